// Echoes the messages of Autobahn's fuzzing server, case by case, as its suite requires of a client.
import { sleep } from 'k6';
import ws from 'k6/ws';

export const options = {
  scenarios: {
    all: { executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: '30m' },
  },
};

const { SERVER, AGENT } = __ENV;
const params = { compression: 'deflate' };

export default function () {
  let count = 0;
  ws.connect(`${SERVER}/getCaseCount`, {}, (socket) => {
    socket.on('message', (text) => {
      count = Number(text);
    });
  });
  if (count === 0) {
    throw new Error('the server has no cases');
  }
  for (let number = 1; number <= count; number++) {
    ws.connect(`${SERVER}/runCase?case=${number}&agent=${AGENT}`, params, (socket) => {
      socket.on('message', (text) => socket.send(text));
      socket.on('binaryMessage', (bytes) => socket.sendBinary(bytes));
    });
  }
  // Wait until the server has closed its side of the last connection.
  sleep(1);
  ws.connect(`${SERVER}/updateReports?agent=${AGENT}`, {}, () => {});
}
