import { WebSocket } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export const options = {
  scenarios: {
    opens: { executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: '1s', gracefulStop: '0s', exec: 'opens' },
    looks: { executor: 'per-vu-iterations', vus: 1, iterations: 2, startTime: '2s', exec: 'looks' },
  },
};
let kept;
export function opens() {
  kept = new WebSocket(`${W}/ws/echo`);
  kept.onopen = () => { console.log('open', __VU); kept.send('first'); };
  kept.onmessage = (e) => console.log('message', e.data);
  kept.onclose = () => console.log('close');
}
export function looks() {
  console.log('kept', __VU, kept === undefined ? 'nothing' : kept.readyState);
  if (!kept) return;
  try { kept.send('second'); console.log('sent'); } catch (e) { console.log('threw', String(e).split('\n')[0]); }
}
