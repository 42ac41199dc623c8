import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  ws.onopen = () => {
    for (const values of [[999], [1001], [1005], [1006], [2999], [5000], [-1], ['1000x'], [1000, 'r'.repeat(124)], [1000, 'é'.repeat(62)]]) {
      try { ws.close(...values); console.log(String(values[0]), 'closed', ws.readyState); } catch (e) { console.log(String(values[0]), 'threw', e.name, ws.readyState); }
    }
    ws.close();
  };
}
