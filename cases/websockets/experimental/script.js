import { WebSocket } from 'k6/experimental/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  const ws = new WebSocket(`${W}/ws/echo`);
  ws.onopen = () => { ws.send('x'); };
  ws.onmessage = (e) => { console.log(e.data); ws.close(); };
}
