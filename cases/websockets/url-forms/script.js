import { WebSocket } from 'k6/websockets';
function attempt(url) {
  return new Promise((done) => {
    let ws;
    try { ws = new WebSocket(url); } catch (e) { console.log(url.replace(__ENV.BASE.slice(7), 'host'), 'threw', e.name); return done(); }
    ws.onopen = () => { console.log(ws.url.replace(__ENV.BASE.slice(7), 'host')); ws.close(); };
    ws.onclose = done;
    ws.onerror = () => console.log('error');
  });
}
export default async function () {
  const host = __ENV.BASE.slice(7);
  for (const url of [`ws://${host}/ws/echo`, `WS://${host}/ws/echo`, `ws://${host}/ws/echo?a=b c`, `ws://${host}/ws/../ws/echo`, `ws://user:pw@${host}/ws/echo`, `http://${host}/ws/echo`, `${host}/ws/echo`, `ws:///ws/echo`, `ws://${host}/ws/echo#`]) await attempt(url);
}
