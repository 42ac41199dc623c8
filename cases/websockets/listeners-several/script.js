import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  ws.addEventListener('message', () => console.log('listener 1'));
  ws.addEventListener('message', () => console.log('listener 2'));
  ws.onmessage = () => console.log('handler');
  const same = () => console.log('same');
  ws.addEventListener('message', same);
  ws.addEventListener('message', same);
  ws.addEventListener('message', () => ws.close());
  ws.onopen = () => ws.send('x');
}
