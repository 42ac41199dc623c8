import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  const ws = new WebSocket(`${W}/ws/echo`, null, { tags: { mine: 'yes' } });
  console.log(ws.readyState, ws.url === `${W}/ws/echo`, ws.bufferedAmount, JSON.stringify(ws.protocol), ws.binaryType);
  let left = 5;
  const done = () => { if (--left === 0) { ws.close(); console.log('closing', ws.readyState); } };
  ws.addEventListener('message', (e) => console.log('listener', typeof e.data, e.origin === ws.url, e.target === ws));
  ws.onopen = (e) => {
    console.log(e.type, ws.readyState, typeof e.timestamp, e.timestamp > 1.7e12);
    ws.send('h\u00e9llo');
    ws.send(new Uint8Array([1, 2, 3]));
    ws.send(new Uint8Array([1, 2, 3, 4]).subarray(1, 3));
    ws.send(new ArrayBuffer(4));
    console.log('buffered', ws.bufferedAmount);
    ws.ping();
  };
  ws.onmessage = (e) => { console.log('handler', typeof e.data === 'string' ? e.data : e.data.size); done(); };
  ws.onpong = (e) => { console.log(e.type, Object.keys(e).join()); done(); };
  ws.onerror = (e) => console.log(e.error);
  ws.onclose = (e) => console.log(e.type, e.code, JSON.stringify(e.reason), ws.readyState);
  console.log('end of function');
}
