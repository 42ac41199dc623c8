// Each user sends messages of 100 bytes back and forth on one WebSocket until the end, several
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
