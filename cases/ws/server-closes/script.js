import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  for (const path of ['close/1000/bye', 'close/1001', 'close/1011/oops', 'close/4001', 'close/none', 'send-close/3', 'drop']) {
    const res = ws.connect(`${W}/ws/${path}`, {}, (socket) => {
      for (const event of ['open', 'message', 'error', 'close']) {
        socket.on(event, (x) => console.log(path, event, x && x.error ? x.error() : x));
      }
    });
    console.log(path, res.status, JSON.stringify(res.error));
  }
}
