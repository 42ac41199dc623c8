import { WebSocket } from 'k6/websockets';
export default function () {
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`);
  ws.addEventListener('open', () => {
    let sent = 0;
    const interval = setInterval(() => { ws.send(`n${++sent}`); if (sent === 3) clearInterval(interval); }, 20);
    setTimeout(() => { console.log('closing', sent); ws.close(); }, 250);
  });
  ws.addEventListener('message', (e) => console.log(e.data));
  ws.addEventListener('close', () => console.log('done'));
}
