import http from 'k6/http';
import { Counter } from 'k6/metrics';

const sent = new Counter('requests_sent');
const failed = new Counter('requests_failed');

export const options = {
  scenarios: { all: { executor: 'shared-iterations', vus: +__ENV.USERS, iterations: +__ENV.REQUESTS } },
};

export default function () {
  const response = http.get(__ENV.TARGET, { timeout: __ENV.TIMEOUT });
  sent.add(1);
  failed.add(response.status === 200 ? 0 : 1);
}
