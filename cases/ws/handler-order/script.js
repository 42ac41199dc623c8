import ws from 'k6/ws';
export default function () {
  ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`, {}, (socket) => {
    socket.on('open', () => console.log('first'));
    socket.on('open', () => { console.log('second'); socket.send('x'); });
    socket.on('message', (text) => { console.log('one', text); });
    socket.on('message', (text) => { console.log('two', text); socket.close(); });
    socket.on('unknown', () => console.log('never'));
    socket.on('close', (...all) => console.log('close', all.join()));
  });
}
