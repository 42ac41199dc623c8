import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  const res = ws.connect(`${W}/ws/echo`, { tags: { mine: 'yes' }, headers: { 'X-A': 'b' } }, (socket) => {
    console.log('callback', typeof socket.send);
    socket.on('open', () => {
      console.log('open');
      socket.send('hello');
      socket.sendBinary(new Uint8Array([1, 2, 3]).buffer);
      socket.ping();
    });
    socket.on('message', (m) => console.log('message', m, typeof m));
    socket.on('binaryMessage', (m) => console.log('binary', m.byteLength, m instanceof ArrayBuffer));
    socket.on('pong', (...all) => console.log('pong', all.length));
    socket.on('close', (code) => console.log('close', code, typeof code));
    socket.on('error', (e) => console.log('error', e.error()));
    socket.setTimeout(() => { console.log('timeout'); socket.close(); console.log('after close'); }, 300);
  });
  console.log(Object.keys(res).join(), res.status, res.url === `${W}/ws/echo`, res.body, res.error, Object.keys(res.headers).sort().join());
}
