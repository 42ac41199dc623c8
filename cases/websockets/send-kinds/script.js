import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  const ws = new WebSocket(`${W}/ws/echo`);
  ws.binaryType = 'arraybuffer';
  let left = 5;
  ws.onmessage = (e) => { console.log(typeof e.data === 'string' ? JSON.stringify(e.data) : e.data.byteLength); if (--left === 0) ws.close(); };
  ws.onopen = () => {
    for (const x of ['t\u00ebxt', '', 1, null, undefined, {}, true, new ArrayBuffer(2), new Uint8Array([1, 2, 3]), new Float64Array(2)]) {
      try { ws.send(x); console.log('sent'); } catch (e) { console.log(e.name, e.message); }
    }
  };
}
