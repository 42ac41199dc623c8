// The churn soak over WebSocket: one connection for the whole run, or a new one per iteration.
import ws from 'k6/ws';
import { check, sleep } from 'k6';

const message = 'm'.repeat(100);

export default function () {
  const persistent = __ENV.CONNECTION === 'persistent';
  let received = 0;
  try {
    ws.connect(__ENV.URL, {}, (socket) => {
      socket.on('open', () => socket.send(message));
      socket.on('message', () => {
        received += 1;
        if (persistent) return socket.send(message);
        // The peer continues to send in the meantime, and nobody reads.
        if (__ENV.CONNECTION === 'unread') sleep(0.01);
        socket.close();
      });
      socket.setTimeout(() => socket.close(), persistent ? __ENV.SECONDS * 1000 : 1000);
    });
  } catch (error) {
    // A refused connection is a failed check.
  }
  check(received, { received: (count) => count > 0 });
}
