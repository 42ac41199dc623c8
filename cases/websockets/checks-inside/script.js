import { WebSocket } from 'k6/websockets';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
const messages = new Counter('own_messages');
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/send/3`);
  ws.onmessage = (e) => {
    messages.add(1, { kind: 'text' });
    group('in handler', () => check(e.data, { 'is message': (d) => d.startsWith('message'), 'is last': (d) => d.endsWith('2') }));
    if (e.data === 'message 2') ws.close();
  };
}
