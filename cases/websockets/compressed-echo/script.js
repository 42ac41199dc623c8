import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo?deflate`, null, { compression: 'deflate' });
  ws.binaryType = 'arraybuffer';
  const sent = ['', 'a', 'é'.repeat(1000), new Uint8Array(0), new Uint8Array(5000)];
  let next = 0;
  ws.onopen = () => { console.log(JSON.stringify(ws.extensions)); ws.send(sent[0]); };
  ws.onmessage = (e) => {
    console.log(next, typeof e.data === 'string' ? e.data.length : e.data.byteLength);
    next += 1;
    if (next < sent.length) ws.send(sent[next]); else ws.close();
  };
}
