// The same as echo.js by the other module: events, and sockets that outlive the call that made them.
import { sleep } from 'k6';
import { WebSocket } from 'k6/websockets';

export const options = {
  scenarios: {
    all: { executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: '30m' },
  },
};

const { SERVER, AGENT } = __ENV;

// Resolves with the last message when the connection has ended.
function converse(path, params, answer) {
  return new Promise((resolve) => {
    let last;
    const socket = new WebSocket(`${SERVER}/${path}`, null, params);
    socket.binaryType = 'arraybuffer';
    socket.onmessage = (event) => {
      last = event.data;
      if (answer) {
        socket.send(event.data);
      }
    };
    socket.onclose = () => resolve(last);
  });
}

export default async function () {
  const count = Number(await converse('getCaseCount', {}, false));
  if (!(count > 0)) {
    throw new Error('the server told of no cases');
  }
  for (let number = 1; number <= count; number++) {
    await converse(`runCase?case=${number}&agent=${AGENT}`, { compression: 'deflate' }, true);
  }
  // The server's side of the last connection must be over.
  sleep(1);
  await converse(`updateReports?agent=${AGENT}`, {}, false);
}
