import { WebSocket, Blob } from 'k6/websockets';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  const ws = new WebSocket(`${W}/ws/echo`);
  for (const x of [1, 'a', {}]) { try { ws.onopen = x; } catch (e) { console.log(e.name, e.message); } }
  ws.addEventListener('nothing', () => console.log('never'));
  try { ws.addEventListener('open', 1); } catch (e) { console.log(e.name); }
  ws.onmessage = () => console.log('replaced');
  ws.onmessage = (e) => console.log('message', e.data);
  ws.addEventListener('open', () => console.log('first'));
  ws.onopen = () => console.log('on');
  ws.addEventListener('open', () => { console.log('second'); ws.send('x'); });
  ws.addEventListener('message', () => ws.close());
  ws.onclose = null;
}
