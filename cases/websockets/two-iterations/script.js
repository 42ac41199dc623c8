import { WebSocket } from 'k6/websockets';
export const options = { iterations: 2 };
export default function () {
  console.log('iteration', __ITER);
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  ws.onopen = () => ws.send(String(__ITER));
  ws.onmessage = (e) => { console.log('got', e.data); ws.close(); };
  ws.onclose = () => console.log('closed', __ITER);
}
