import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  for (const name of ['onopen', 'onmessage', 'onerror', 'onclose', 'onping', 'onpong']) console.log(name, ws[name]);
  const own = () => ws.close();
  ws.onopen = own;
  console.log(ws.onopen === own, typeof ws.onopen);
  ws.onmessage = own;
  ws.onmessage = null;
  console.log(ws.onmessage);
  ws.onclose = () => console.log('closed');
}
