import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  let left = 9;
  ws.connect(`${W}/ws/echo`, {}, (socket) => {
    const done = () => { if (--left === 0) socket.close(); };
    socket.on('message', (m) => { console.log('text', JSON.stringify(m)); done(); });
    socket.on('binaryMessage', (m) => { console.log('binary', m.byteLength); done(); });
    socket.on('open', () => {
      for (const x of [1, null, undefined, { a: 1 }, [1, 2], true, '', 'h\u00f6\u{1f600}\ud800']) socket.send(x);
      for (const x of [1, null, undefined, 'a', {}, new Uint8Array([1, 2]), new DataView(new ArrayBuffer(3)), new ArrayBuffer(0)]) {
        try { socket.sendBinary(x); console.log('sent'); } catch (e) { console.log(e.name, e.message); }
      }
    });
  });
}
