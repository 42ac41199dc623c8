import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  ws.onopen = async () => { await Promise.resolve(); ws.send('x'); console.log('sent'); };
  ws.onmessage = async (e) => { await null; console.log('got', e.data); ws.close(); };
  ws.onclose = async () => { console.log('closed'); throw new Error('late'); };
}
