import * as all from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
console.log(typeof all.WebSocket, typeof all.Blob);
export default function () {
  const ws = new all.WebSocket(`${W}/ws/echo`);
  ws.onopen = () => ws.close();
}
export function setup() {
  const ws = new all.WebSocket(`${W}/ws/echo`);
  ws.onopen = () => { console.log('in setup'); ws.close(); };
}
