// Each user sends a message of 100 bytes back and forth on one WebSocket until time is up.
import ws from 'k6/ws';

const message = 'm'.repeat(100);

export default function () {
  ws.connect(__ENV.URL, {}, (socket) => {
    socket.on('open', () => socket.send(message));
    socket.on('message', () => socket.send(message));
    socket.setTimeout(() => socket.close(), __ENV.SECONDS * 1000);
  });
}
