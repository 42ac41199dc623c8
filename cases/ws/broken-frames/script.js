import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  for (const kind of ['utf8', 'opcode', 'reserved', 'compressed', 'masked', 'continuation', 'interleaved', 'long-ping', 'close-code', 'close-byte', 'half']) {
    ws.connect(`${W}/ws/bad/${kind}`, {}, (s) => {
      for (const event of ['message', 'close', 'error']) s.on(event, (x) => console.log(kind, event, x.error ? x.error() : x));
      s.setTimeout(() => s.close(), 2000);
    });
  }
}
