// The same as echo.js with the other module, which uses events, and sockets that outlive the call that created them.
import { sleep } from 'k6';
import { WebSocket } from 'k6/websockets';

export const options = {
  scenarios: {
    all: { executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: '30m' },
  },
};

const { SERVER, AGENT } = __ENV;

// Resolves with the last message when the connection is closed.
function connect(path, params, echo) {
  return new Promise((resolve) => {
    let last;
    const socket = new WebSocket(`${SERVER}/${path}`, null, params);
    socket.binaryType = 'arraybuffer';
    socket.onmessage = (event) => {
      last = event.data;
      if (echo) {
        socket.send(event.data);
      }
    };
    socket.onclose = () => resolve(last);
  });
}

export default async function () {
  const count = Number(await connect('getCaseCount', {}, false));
  if (!(count > 0)) {
    throw new Error('the server has no cases');
  }
  for (let number = 1; number <= count; number++) {
    await connect(`runCase?case=${number}&agent=${AGENT}`, { compression: 'deflate' }, true);
  }
  // Wait until the server has closed its side of the last connection.
  sleep(1);
  await connect(`updateReports?agent=${AGENT}`, {}, false);
}
