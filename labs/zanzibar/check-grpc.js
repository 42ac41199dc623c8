// The same checks over gRPC. Each user has its own connection for the whole run, or, with
// FRESH=1, a new one for each check. The trend `grpc_req_total` is the time of a check in
// both cases: it includes opening the connection, until the server's HTTP/2 settings arrive.
import grpc from 'k6/net/grpc';
import exec from 'k6/execution';
import { check, group, sleep } from 'k6';
import { COUNT, question } from './data.js';

const address = __ENV.ADDRESS || '127.0.0.1:4000';
const fresh = __ENV.FRESH === '1';
const think = Number(__ENV.THINK || 1);
const denied = 0.05;

const client = new grpc.Client();
client.load(['../../reference-systems/zanzibar/proto'], 'zanzigo/v1/zanzigo.proto');

export const options = {
  vus: Number(__ENV.USERS || 100),
  duration: __ENV.DURATION || '60s',
  thresholds: {
    checks: ['rate==1'],
  },
};

export default function () {
  // Without this, all users would start at once and stay in lock-step.
  if (think > 0 && exec.vu.iterationInScenario === 0) {
    sleep(Math.random() * think);
  }
  const allowed = Math.random() >= denied;
  const tuple = question(Math.floor(Math.random() * COUNT), allowed);
  group('check', () => {
    if (fresh || exec.vu.iterationInScenario === 0) {
      client.connect(address, { plaintext: true });
    }
    const answer = client.invoke('zanzigo.v1.ZanzigoService/Check', { tuple });
    if (allowed) {
      check(answer, {
        'allowed is told': (r) => r.status === grpc.StatusOK && r.message.result === true,
      });
    } else {
      check(answer, {
        'denied is told': (r) => r.status === grpc.StatusOK && !r.message.result,
      });
    }
    if (fresh) {
      client.close();
    }
  });
  if (think > 0) {
    sleep(think);
  }
}
