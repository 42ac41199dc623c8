import ws from 'k6/ws';
export default function () {
  ws.connect(`${__ENV.BASE.replace('http', 'ws')}/ws/echo`, (socket) => {
    socket.on('open', () => socket.sendBinary(new Uint8Array([1, 0, 255]).buffer));
    socket.on('binaryMessage', (data) => { console.log(data instanceof ArrayBuffer, new Uint8Array(data).join()); socket.send('text'); });
    socket.on('message', (data) => { console.log(typeof data, data); socket.close(); });
    for (const wrong of ['text', 5, null, undefined, new Uint8Array(1), {}]) {
      try { socket.sendBinary(wrong); console.log('sent'); } catch (e) { console.log(Object.prototype.toString.call(wrong), 'threw', e.name); }
    }
  });
}
