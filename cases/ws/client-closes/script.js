import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
function run(name, body) {
  const res = ws.connect(`${W}/ws/echo`, {}, (socket) => {
    socket.on('close', (code) => console.log(name, 'close', code));
    socket.on('error', (e) => console.log(name, 'error', e.error()));
    body(socket);
  });
  console.log(name, res.status, JSON.stringify(res.error));
}
export default function () {
  run('twice', (s) => s.on('open', () => { s.close(); s.close(1000); }));
  run('own code', (s) => s.on('open', () => s.close(4000)));
  run('no code', (s) => s.on('open', () => s.close(99999)));
  run('text', (s) => s.on('open', () => s.close('abc')));
  run('in callback', (s) => console.log(s.close(1005)));
  run('after message', (s) => { s.on('message', (m) => { console.log('message', m); s.close(1000); }); s.send('early'); });
  run('timer', (s) => s.setTimeout(() => s.close(), 20));
}
