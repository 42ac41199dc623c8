import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.TLS.replace('http', 'ws')}/ws/echo`);
  ws.onopen = () => console.log('open');
  ws.onerror = (e) => console.log('error', /certificate/.test(e.error));
  ws.onclose = (e) => console.log('close', e.code);
}
