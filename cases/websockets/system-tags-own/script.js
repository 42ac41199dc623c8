import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  ws.onopen = () => { ws.send('x'); ws.ping(); };
  ws.onmessage = () => ws.close();
}
