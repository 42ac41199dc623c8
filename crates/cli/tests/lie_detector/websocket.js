import { WebSocket } from 'k6/websockets';
import { Counter, Trend } from 'k6/metrics';

const sent = new Counter('requests_sent');
const failed = new Counter('requests_failed');
const flooded = new Counter('flooded');
const echo = new Trend('echo', true);

export const options = {
  scenarios: { all: { executor: 'per-vu-iterations', vus: +__ENV.USERS, iterations: 1 } },
};

// Each user sends its share of the messages, each after the echo of the previous one. If the server closes the
// connection, the user opens another one.
export default function () {
  let left = +__ENV.REQUESTS / +__ENV.USERS;
  const open = () => {
    const socket = new WebSocket(__ENV.TARGET);
    let since = 0;
    let waiting = false;
    const send = () => {
      if (left === 0) {
        socket.close();
        return;
      }
      left -= 1;
      sent.add(1);
      waiting = true;
      since = Date.now();
      socket.send('hello');
    };
    const limit = __ENV.TIMEOUT === '500ms' ? setTimeout(() => socket.close(), 500) : null;
    let opened = false;
    socket.onopen = () => {
      opened = true;
      send();
    };
    socket.onmessage = (event) => {
      if (event.data !== 'hello') {
        flooded.add(1);
        return;
      }
      waiting = false;
      failed.add(0);
      echo.add(Date.now() - since);
      send();
    };
    socket.onclose = () => {
      if (limit !== null) clearTimeout(limit);
      if (!opened) {
        left -= 1;
        sent.add(1);
        waiting = true;
      }
      if (!waiting) return;
      failed.add(1);
      waiting = false;
      if (left > 0) open();
    };
    socket.onerror = () => {};
  };
  open();
}
