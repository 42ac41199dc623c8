import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  for (const size of [0, 1, 125, 126, 65535, 65536, 300000]) {
    ws.connect(`${W}/ws/text/${size}`, {}, (s) => s.on('message', (m) => { console.log(size, m.length); s.close(); }));
    ws.connect(`${W}/ws/echo`, {}, (s) => { s.on('open', () => s.send('y'.repeat(size))); s.on('message', (m) => { console.log(size, m.length); s.close(); }); });
  }
  ws.connect(`${W}/ws/fragments`, {}, (s) => { let n = 0; s.on('message', (m) => { console.log(m); if (++n === 2) s.close(); }); });
  ws.connect(`${W}/ws/binary/5`, {}, (s) => { s.on('message', (m) => console.log('text', m)); s.on('binaryMessage', (m) => { console.log(new Uint8Array(m).join()); s.close(); }); });
}
