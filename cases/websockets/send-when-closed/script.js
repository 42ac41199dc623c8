import { WebSocket } from 'k6/websockets';
function attempt(name, body) { try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name, e.message); } }
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  attempt('connecting send', () => ws.send('x'));
  attempt('connecting ping', () => ws.ping());
  ws.onopen = () => { ws.close(); attempt('closing send', () => ws.send('x')); };
  ws.onclose = () => { attempt('closed send', () => ws.send('x')); attempt('closed ping', () => ws.ping()); };
}
