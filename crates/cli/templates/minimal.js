import http from 'k6/http';
import { check, sleep } from 'k6';

// Ten users for thirty seconds. Every option may also be given as a flag:
// plimsoll run -u 50 -d 1m script.js
export const options = {
  vus: 10,
  duration: '30s',
  thresholds: {
    // The run fails when more than 1% of requests fail, or when the slowest
    // twentieth takes longer than half a second.
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<500'],
  },
};

const BASE = __ENV.BASE || 'http://127.0.0.1:10080';

// What one user does, over and over.
export default function () {
  const answer = http.get(`${BASE}/`);
  check(answer, {
    'status is 200': (r) => r.status === 200,
    'body is there': (r) => r.body.length > 0,
  });
  sleep(1);
}
