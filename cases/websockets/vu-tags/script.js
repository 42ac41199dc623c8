import { WebSocket } from 'k6/websockets';
import exec from 'k6/execution';
export default function () {
  exec.vu.metrics.tags.stage = 'before';
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  exec.vu.metrics.tags.stage = 'after';
  ws.onopen = () => ws.send('x');
  ws.onmessage = () => ws.close();
}
