import grpc from 'k6/net/grpc';
import { Counter } from 'k6/metrics';

const MESSAGES = 3;

const sent = new Counter('requests_sent');
const failed = new Counter('requests_failed');
const client = new grpc.Client();
client.load(['.'], 'lie.proto');

export const options = {
  scenarios: { all: { executor: 'shared-iterations', vus: +__ENV.USERS, iterations: +__ENV.REQUESTS } },
};

let connected = false;

// Each call sends its messages one after another, each after the response to the previous one.
export default function () {
  if (!connected) {
    try {
      client.connect(__ENV.TARGET, { plaintext: true });
    } catch (error) {
      sent.add(1);
      failed.add(1);
      return;
    }
    connected = true;
  }
  const stream = new grpc.Stream(client, 'lie.S/Chat', { timeout: __ENV.TIMEOUT });
  let left = MESSAGES;
  let isOk = true;
  const write = () => {
    left -= 1;
    stream.write({ text: 'hello' });
  };
  stream.on('data', (message) => {
    if (message.text !== 'hello') return;
    if (left > 0) write();
    else stream.end();
  });
  stream.on('error', () => {
    isOk = false;
  });
  stream.on('end', () => {
    sent.add(1);
    failed.add(isOk ? 0 : 1);
  });
  write();
}
