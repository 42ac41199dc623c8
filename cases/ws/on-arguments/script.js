import ws from 'k6/ws';
export default function () {
  ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`, (socket) => {
    for (const values of [[], ['open'], ['open', null], ['open', 5], [null, () => {}], [5, () => {}], ['OPEN', () => console.log('never')]]) {
      try { console.log(values.length, socket.on(...values)); } catch (e) { console.log(values.length, 'threw', e.name); }
    }
    socket.on('open', () => socket.close());
  });
}
