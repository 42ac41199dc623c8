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
  for (const [code, reason] of [[1000, 'fine'], [3000, ''], [4999, 'r'], [1001, ''], [2999], [5000], [undefined, 'x'], [null], [0], [1000, 'x'.repeat(123)], [1000, 'x'.repeat(124)]]) {
    await live(String(code), `${W}/ws/echo`, null, {}, (ws) => {
      ws.onopen = () => {
        try { console.log(ws.close(code, reason)); } catch (e) { console.log(e.name, e.message); }
        console.log('state', ws.readyState);
        ws.close();
        for (const name of ['send', 'ping']) { try { ws[name]('x'); } catch (e) { console.log(name, e.name, e.message); } }
      };
    });
  }
}
