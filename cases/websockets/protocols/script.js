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
  const protocol = (ws) => { ws.onopen = () => { console.log(JSON.stringify(ws.protocol)); ws.close(); }; };
  await live('two', `${W}/ws/protocol`, ['a', 'b'], {}, protocol);
  await live('one', `${W}/ws/protocol`, 'a', {}, protocol);
  await live('none', `${W}/ws/protocol`, null, {}, protocol);
  await live('unasked', `${W}/ws/protocol/zz`, ['a', 'b'], {}, protocol);
  const headers = (ws) => { ws.onmessage = () => ws.close(); };
  await live('headers', `${W}/ws/headers`, ['a', 'b'], { headers: { X: 'y' }, compression: 'deflate' }, headers);
  await live('number', `${W}/ws/headers`, 12, null, headers);
}
