import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/headers`, null, { compression: 'deflate' });
  ws.onmessage = (e) => { console.log(JSON.parse(e.data)['sec-websocket-extensions'], JSON.stringify(ws.extensions)); ws.close(); };
}
