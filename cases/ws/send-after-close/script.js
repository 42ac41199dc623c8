import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  ws.connect(`${W}/ws/echo`, {}, (socket) => {
    socket.on('close', (code) => console.log('close', code));
    socket.on('error', (e) => console.log('error', e.error()));
    socket.on('open', () => { socket.close(); socket.send('x'); console.log('sent'); socket.ping(); socket.sendBinary(new ArrayBuffer(1)); });
  });
}
