import ws from 'k6/ws';
const W = __ENV.BASE.replace('http', 'ws');
export default function () {
  ws.connect(`${W}/ws/echo`, {}, (socket) => {
    socket.on('open', () => { throw new Error('in open'); });
    socket.on('close', (code) => console.log('close', code));
  });
  console.log('never');
}
