import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  for (const [name, value] of [['readyState', 9], ['url', 'x'], ['bufferedAmount', 5], ['extensions', 'e'], ['protocol', 'p'], ['own', 1]]) {
    try { ws[name] = value; console.log(name, 'set', ws[name] === value); } catch (e) { console.log(name, 'threw', e.name); }
  }
  ws.onopen = () => ws.close();
}
