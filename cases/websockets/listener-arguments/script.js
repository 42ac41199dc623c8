import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  for (const values of [[], ['open'], ['open', null], ['open', 5], ['open', {}], ['open', 'text'], ['unknown', () => {}], ['', () => {}], [null, () => {}], [5, () => {}], ['OPEN', () => console.log('never')], ['open', () => console.log('with options'), { once: true }]]) {
    try { console.log(JSON.stringify(values[0]), typeof values[1], ws.addEventListener(...values)); } catch (e) { console.log(JSON.stringify(values[0]), typeof values[1], 'threw', e.name); }
  }
  ws.addEventListener('open', () => ws.close());
}
