import ws from 'k6/ws';
import { check } from 'k6';
export default function () {
  const res = ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`, { tags: { my_tag: 'hello' } }, function (socket) {
    let sent = 0;
    socket.on('open', () => socket.setInterval(() => { if (sent < 2) socket.send(`tick ${++sent}`); }, 10));
    socket.on('message', (data) => { console.log(data); if (data === 'tick 2') socket.setTimeout(() => socket.close(), 5); });
    socket.on('close', () => console.log('disconnected'));
  });
  check(res, { 'status is 101': (r) => r && r.status === 101 });
}
