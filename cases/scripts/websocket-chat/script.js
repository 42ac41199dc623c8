import { WebSocket } from 'k6/websockets';
import { Counter, Trend } from 'k6/metrics';
import { check } from 'k6';
const received = new Counter('chat_received');
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  const lines = ['hello', 'how are you', 'bye'];
  ws.addEventListener('open', () => ws.send(JSON.stringify({ event: 'say', text: lines.shift() })));
  ws.addEventListener('message', ({ data }) => {
    const { event, text } = JSON.parse(data);
    received.add(1);
    check(text, { 'came back': (t) => typeof t === 'string' && event === 'say' });
    if (lines.length) ws.send(JSON.stringify({ event: 'say', text: lines.shift() })); else ws.close();
  });
  ws.addEventListener('close', () => console.log('left'));
}
