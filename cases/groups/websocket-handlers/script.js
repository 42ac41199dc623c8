import { check, group } from 'k6';
import exec from 'k6/execution';
import { WebSocket } from 'k6/websockets';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
export default function () {
  const { tags } = exec.vu.metrics;
  group('socket', () => {
    tags.at = 'inside';
    const socket = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
    socket.onopen = () => { seen.add(1); socket.send('text'); };
    socket.addEventListener('message', () => {
      tags.at = 'message';
      check(1, { received: true });
      group('handler', () => seen.add(2));
      socket.close();
    });
    tags.at = 'outside';
    socket.onclose = () => seen.add(3);
  });
}
