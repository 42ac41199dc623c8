import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  const show = (e) => console.log(e.type, typeof e.timestamp, e.timestamp > 1e9, e.target === ws, Object.keys(e).sort().join());
  ws.onopen = (e) => { show(e); ws.send('x'); };
  ws.onmessage = (e) => { show(e); ws.close(); };
  ws.onclose = show;
}
