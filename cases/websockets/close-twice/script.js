import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  let count = 0;
  ws.onopen = () => { console.log(ws.close(3001, 'first')); console.log(ws.close(3002, 'second')); };
  ws.onclose = (e) => { count += 1; console.log(count, e.code, e.reason, ws.readyState); console.log(ws.close()); };
  ws.onerror = (e) => console.log('error', e.type);
}
