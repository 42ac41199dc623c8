// Each user exchanges 100-byte messages with the echo server on one WebSocket until the end. Several messages are
// in flight at a time.
import ws from 'k6/ws';

const message = 'm'.repeat(100);

export default function () {
  ws.connect(__ENV.URL, {}, (socket) => {
    socket.on('open', () => {
      for (let n = 0; n < Number(__ENV.IN_FLIGHT); n++) socket.send(message);
    });
    socket.on('message', () => socket.send(message));
    socket.setTimeout(() => socket.close(), __ENV.SECONDS * 1000);
  });
}
