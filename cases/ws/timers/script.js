import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  ws.connect(`${W}/ws/echo`, {}, (socket) => {
    for (const x of [0, -1, 'a', null, undefined, NaN, -0.001]) {
      for (const name of ['setTimeout', 'setInterval']) {
        try { socket[name](() => 1, x); console.log('taken', x); } catch (e) { console.log(e.name, e.message); }
      }
    }
    let ticks = 0;
    socket.setInterval(() => { ticks += 1; if (ticks === 3) { console.log('three ticks'); socket.close(); } }, 10);
    socket.setTimeout(() => console.log('never'), 60000);
    socket.setTimeout(() => console.log('once'), 0.5);
    console.log(socket.setTimeout(() => 1, 1));
  });
  console.log('over');
}
