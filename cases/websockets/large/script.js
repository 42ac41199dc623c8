import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  for (const size of [126, 65536, 1000000]) {
    const ws = new WebSocket(`${W}/ws/echo`);
    ws.onopen = () => ws.send('z'.repeat(size));
    ws.onmessage = (e) => { console.log(e.data.length); ws.close(); };
  }
}
