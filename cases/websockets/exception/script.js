import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  const ws = new WebSocket(`${W}/ws/echo`);
  ws.onopen = () => { throw new Error('in open'); };
  ws.onerror = (e) => console.log('error', ws.readyState, e.error.split(' at ')[0].split('\n')[0]);
  ws.onclose = (e) => console.log('close', ws.readyState, e.code, e.reason);
}
