import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  ws.binaryType = 'arraybuffer';
  ws.onopen = () => ws.send(new Uint8Array([0, 127, 128, 255]));
  ws.onmessage = (e) => { console.log(e.data instanceof ArrayBuffer, new Uint8Array(e.data).join(), e.type); ws.close(); };
}
