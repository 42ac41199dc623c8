import http from 'k6/http';
import { check, sleep } from 'k6';
export const options = { vus: 1, iterations: 3, thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(99)<5000'], checks: ['rate>0.99'] } };
const BASE_URL = __ENV.BASE;
export default function () {
  const response = http.get(`${BASE_URL}/json`);
  check(response, { 'status is 200': (r) => r.status === 200, 'has a name': (r) => r.json('name') === 'Ada', 'type is JSON': (r) => r.headers['Content-Type'] === 'application/json' });
  sleep(0.01);
}
