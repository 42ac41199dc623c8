import ws from 'k6/ws';
export default function () {
  const r = ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/drop`, (socket) => {
    socket.on('error', (e) => console.log(typeof e, typeof e.error, e.error().includes('1006')));
    socket.on('close', (code) => console.log('close', code));
  });
  console.log(r.status);
}
