import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.TLS.replace('http', 'ws')}/ws/echo`);
  ws.onopen = () => ws.send('over TLS');
  ws.onmessage = (e) => { console.log(e.data); ws.close(); };
}
