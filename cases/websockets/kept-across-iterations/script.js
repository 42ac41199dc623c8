import { WebSocket } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export const options = { vus: 1, iterations: 3 };
let kept;
export default function () {
  if (kept) {
    console.log(__ITER, 'kept', kept.readyState);
    try { kept.send('late'); console.log('sent'); } catch (e) { console.log('threw', String(e).split('\n')[0]); }
    kept.close();
    console.log('closed again', kept.readyState);
  }
  const iteration = __ITER;
  kept = new WebSocket(`${W}/ws/echo`);
  kept.onopen = () => kept.send(`of ${iteration}`);
  kept.onmessage = (e) => {
    console.log(iteration, e.data, __ITER);
    setTimeout(() => kept.close(), 50);
  };
  kept.onclose = () => console.log(iteration, 'close', __ITER);
  console.log(iteration, 'returns', kept.readyState);
}
