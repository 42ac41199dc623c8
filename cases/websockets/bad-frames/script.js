import { WebSocket } from 'k6/websockets';
function broken(kind) {
  return new Promise((done) => {
    const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/bad/${kind}`);
    ws.onmessage = (e) => console.log(kind, 'message');
    ws.onerror = (e) => console.log(kind, 'error', ws.readyState);
    ws.onclose = (e) => { console.log(kind, 'close', ws.readyState); done(); };
  });
}
export default async function () {
  for (const kind of ['opcode', 'reserved', 'masked', 'continuation', 'interleaved', 'long-ping', 'close-byte', 'half']) await broken(kind);
}
