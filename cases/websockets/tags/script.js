import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
import { group } from 'k6';
export default function () {
  const close = (ws) => { ws.onopen = () => ws.send('x'); ws.onmessage = () => ws.close(); };
  close(new WebSocket(`${W}/ws/protocol`, ['chat'], { tags: { x: 1 } }));
  close(new WebSocket(`${W}/ws/echo`, null, { tags: { name: 'N', url: 'mine' } }));
  group('outer', () => close(new WebSocket(`${W}/ws/echo`)));
  close(new WebSocket(`${W}/ws/refuse/403`));
  close(new WebSocket('ws://127.0.0.1:1/'));
}
