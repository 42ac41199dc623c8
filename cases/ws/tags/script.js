import ws from 'k6/ws';
import { group } from 'k6';
import exec from 'k6/execution';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  const close = (s) => s.on('open', () => s.close());
  ws.connect(`${W}/ws/protocol`, { headers: { 'Sec-WebSocket-Protocol': 'chat, other' }, tags: { x: 1, y: true } }, close);
  ws.connect(`${W}/ws/protocol/unasked`, { tags: { name: 'N', url: 'mine', status: '7' } }, close);
  group('outer', () => group('inner', () => ws.connect(`${W}/ws/echo`, {}, close)));
  exec.vu.metrics.tags.mine = 'set';
  ws.connect(`${W}/ws/refuse/403`, {}, close);
  ws.connect('ws://127.0.0.1:1/', { tags: { x: 2 } }, close);
}
