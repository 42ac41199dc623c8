import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
function run(name, path, body) {
  try {
    const res = ws.connect(`${W}/ws/${path}`, {}, (socket) => {
      for (const event of ['close', 'error']) socket.on(event, (x) => console.log(name, event, x && x.error ? x.error() : x));
      body(socket);
      socket.setTimeout(() => { console.log(name, 'late'); socket.close(); }, 5000);
    });
    console.log(name, res.status);
  } catch (e) { console.log(name, 'threw', String(e)); }
}
export default function () {
  run('callback', 'echo', () => { throw new Error('one'); });
  run('open', 'echo', (s) => s.on('open', () => { throw new Error('two'); }));
  run('message', 'send/3', (s) => s.on('message', (m) => { console.log(m); throw new Error('three'); }));
  run('timeout', 'echo', (s) => s.setTimeout(() => { throw new Error('four'); }, 20));
  run('close', 'echo', (s) => { s.on('close', () => { throw new Error('five'); }); s.setTimeout(() => s.close(), 20); });
  run('error', 'drop', (s) => s.on('error', () => { throw new Error('six'); }));
  run('interval', 'echo', (s) => { let n = 0; s.setInterval(() => { if (++n === 3) throw new TypeError('seven'); }, 5); });
}
