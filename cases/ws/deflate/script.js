import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  for (const size of [0, 5, 1000, 100000]) {
    ws.connect(`${W}/ws/echo?deflate`, { compression: 'deflate' }, (s) => {
      const text = 'abcdefghi '.repeat(size / 10);
      s.on('open', () => { s.send(text); s.sendBinary(new Uint8Array(size).fill(7).buffer); });
      s.on('message', (m) => console.log('text', m.length, m === text));
      s.on('binaryMessage', (m) => { console.log('binary', m.byteLength, new Uint8Array(m).every((b) => b === 7)); s.close(); });
    });
  }
}
