import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  ws.onpong = (e) => { console.log('pong', e.type); ws.close(); };
  ws.onopen = () => console.log(ws.ping());
  const other = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/ping`);
  other.addEventListener('ping', (e) => console.log('ping', e.type, e.data));
  other.onmessage = () => other.close();
}
