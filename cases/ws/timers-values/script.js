import ws from 'k6/ws';
export default function () {
  ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`, (socket) => {
    for (const delay of [0, -1, NaN, undefined, null, 'x']) {
      for (const name of ['setTimeout', 'setInterval']) {
        try { console.log(name, String(delay), socket[name](() => console.log('never'), delay)); } catch (e) { console.log(name, String(delay), 'threw', e.name); }
      }
    }
    socket.setTimeout(() => { console.log('timer'); socket.close(); }, 20);
  });
}
