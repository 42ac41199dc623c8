import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
import { check } from 'k6';
export const options = { vus: 10, iterations: 30, thresholds: { ws_msgs_received: ['count==90'], 'ws_sessions{status:101}': ['count==30'], ws_connecting: ['p(95)<10000'] } };
export default function () {
  let got = [];
  ws.connect(`${W}/ws/echo`, {}, (s) => {
    s.on('open', () => { for (const x of 'abc') s.send(x + __VU); });
    s.on('message', (m) => { got.push(m); if (got.length === 3) s.close(); });
  });
  check(got, { 'in order': (g) => g.join() === `a${__VU},b${__VU},c${__VU}` });
}
