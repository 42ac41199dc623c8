import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket('ws://127.0.0.1:1/');
  ws.onerror = () => { throw new Error('from the error handler'); };
}
