import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
// Opens a socket, logs all that happens to it, and is done when it has closed.
function live(name, url, protocols, params, body) {
  return new Promise((done) => {
    const ws = new WebSocket(url, protocols, params);
    for (const type of ["open", "message", "error", "close", "ping", "pong"]) {
      ws.addEventListener(type, (e) => {
        const own = Object.keys(e).filter((key) => !["type", "target", "timestamp"].includes(key));
        console.log(name, e.type, ws.readyState, own.map((key) => `${key}=${e[key]}`).join());
        if (type === "close") done();
      });
    }
    if (body) body(ws);
  });
}
export default async function () {
  for (const path of ['close/1000/bye', 'close/1001/bye', 'close/1011/oops', 'close/4001/own', 'close/none', 'send-close/3', 'drop', 'bad/half']) {
    await live(path, `${W}/ws/${path}`);
  }
}
