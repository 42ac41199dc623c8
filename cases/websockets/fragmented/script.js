import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/fragments`);
  ws.onmessage = (e) => { console.log(JSON.stringify(e.data)); ws.close(); };
}
