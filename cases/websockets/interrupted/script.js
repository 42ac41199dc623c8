import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
export default function () {
  const ws = new WebSocket(`${W}/ws/echo`);
  ws.onopen = () => ws.send('x');
}
