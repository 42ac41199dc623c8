// Pushes data over gRPC: each of WORKERS users does so LOOPS times over its one connection.
// The lab uses it to check that a whole message arrives, before it times `plimsoll grpc`.
import grpc from 'k6/net/grpc';
import encoding from 'k6/encoding';
import exec from 'k6/execution';
import { check } from 'k6';
import { Counter } from 'k6/metrics';

const address = __ENV.ADDRESS || '127.0.0.1:50051';
const bytes = Number(__ENV.BYTES || 4096);
const workers = Number(__ENV.WORKERS || 100);
const loops = Number(__ENV.LOOPS || 10);

const client = new grpc.Client();
client.load(['../../reference-systems/serve/proto'], 'greeter.proto');
const data = encoding.b64encode('x'.repeat(bytes));
const pushed = new Counter('pushed_bytes', false);

export const options = {
  scenarios: {
    push: { executor: 'per-vu-iterations', vus: workers, iterations: loops, maxDuration: '10m' },
  },
  thresholds: {
    checks: ['rate==1'],
    iterations: [`count==${workers * loops}`],
  },
};

export default function () {
  if (exec.vu.iterationInScenario === 0) {
    client.connect(address, { plaintext: true });
  }
  const answer = client.invoke('helloworld.Greeter/Push', { data });
  const all = { 'all of it arrived': (r) => r.status === grpc.StatusOK && r.message.message === `${bytes} bytes received` };
  if (check(answer, all)) {
    pushed.add(bytes);
  }
}
