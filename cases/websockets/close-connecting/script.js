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
  await live('close', `${W}/ws/slow/50`, null, {}, (ws) => { ws.close(); console.log(ws.readyState); });
}
