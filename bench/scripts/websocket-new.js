// Each user opens a WebSocket, sends ten messages of 100 bytes back and forth, and closes it, again and again.
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
