import { WebSocket } from 'k6/websockets';
const [host, port] = __ENV.BASE.slice(7).split(':');
export const options = { hosts: { 'mapped.example': host } };
export default function () {
  const ws = new WebSocket(`ws://mapped.example:${port}/ws/echo`);
  ws.onopen = () => { console.log('open'); ws.close(); };
  ws.onerror = (e) => console.log(e.error);
}
