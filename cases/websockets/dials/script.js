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
  const raw = __ENV.RAW.replace('http', 'ws');
  for (const url of ['ws://127.0.0.1:1/', `${W}/nothing`, `${W}/ws/refuse/500`, `${W}/ws/bad-accept`, `${raw}/close`, `${__ENV.TLS.replace('http', 'ws')}/ws/echo`]) {
    await live(url, url);
  }
  for (const url of [`${__ENV.BASE}/ws/echo`, '', undefined, null, `${W}/ws/echo#x`, '/ws/echo']) {
    try { new WebSocket(url); } catch (e) { console.log(e.name, e.message); }
  }
}
