import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  const ws = new WebSocket(`${W}/ws/echo?deflate`, null, { compression: 'deflate' });
  const text = 'abcdefghi '.repeat(10000);
  ws.onopen = () => { ws.send(text); ws.send(''); ws.send('end'); };
  let got = 0;
  ws.onmessage = (e) => { console.log(e.data.length, e.data === text); if (++got === 3) ws.close(); };
  ws.onclose = (e) => console.log(e.code);
}
