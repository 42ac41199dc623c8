import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  console.log('made', ws.readyState, typeof ws.readyState);
  ws.onopen = () => { console.log('open', ws.readyState); ws.close(); console.log('closing', ws.readyState); };
  ws.onclose = () => console.log('close', ws.readyState);
  console.log(WebSocket.CONNECTING, WebSocket.OPEN, WebSocket.CLOSING, WebSocket.CLOSED);
}
