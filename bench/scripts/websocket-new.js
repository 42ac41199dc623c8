// Each user repeatedly opens a WebSocket, exchanges ten 100-byte messages with the echo server, and closes it.
import ws from 'k6/ws';

const message = 'm'.repeat(100);
const end = Date.now() + __ENV.SECONDS * 1000;

export default function () {
  while (Date.now() < end) {
    ws.connect(__ENV.URL, {}, (socket) => {
      let left = 10;
      const next = () => (left-- > 0 ? socket.send(message) : socket.close());
      socket.on('open', next);
      socket.on('message', next);
    });
  }
}
