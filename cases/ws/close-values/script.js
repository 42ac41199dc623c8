import ws from 'k6/ws';
export default function () {
  for (const code of [undefined, 1000, 1001, 3000, 4999]) {
    const r = ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`, (socket) => {
      socket.on('open', () => console.log(String(code), code === undefined ? socket.close() : socket.close(code)));
      socket.on('close', (got) => console.log('closed', got));
      socket.on('error', (e) => console.log('error', e.error()));
    });
    console.log(r.status);
  }
}
