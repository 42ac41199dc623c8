import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  const ws = new WebSocket(`${W}/ws/binary/300`);
  ws.binaryType = 'arraybuffer';
  for (const x of ['x', '', 1]) { try { ws.binaryType = x; } catch (e) { console.log(e.name, e.message); } }
  console.log(ws.binaryType);
  ws.onmessage = (e) => { console.log(e.data instanceof ArrayBuffer, e.data.byteLength, new Uint8Array(e.data)[299]); ws.close(); };
}
