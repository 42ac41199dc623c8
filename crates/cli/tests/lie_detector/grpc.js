import grpc from 'k6/net/grpc';
import { Counter } from 'k6/metrics';

const sent = new Counter('requests_sent');
const failed = new Counter('requests_failed');
const client = new grpc.Client();
client.load(['.'], 'lie.proto');

export const options = {
  scenarios: { all: { executor: 'shared-iterations', vus: +__ENV.USERS, iterations: +__ENV.REQUESTS } },
};

let connected = false;

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
  const response = client.invoke('lie.S/Echo', { text: 'hello' }, { timeout: __ENV.TIMEOUT });
  sent.add(1);
  failed.add(response.status === grpc.StatusOK ? 0 : 1);
}
