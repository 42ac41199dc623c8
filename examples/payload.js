// An ordinary k6 script, which also runs under k6. Start the service it requests first:
//
//   plimsoll serve payload &
//   plimsoll run examples/payload.js
import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Trend } from 'k6/metrics';

const base = __ENV.BASE_URL || 'http://127.0.0.1:10080';
const payloadBytes = new Trend('payload_bytes');

export const options = {
  scenarios: {
    // Open model: visitors arrive on a schedule, however slow the server is.
    visitors: {
      executor: 'constant-arrival-rate',
      rate: 500,
      timeUnit: '1s',
      duration: '10s',
      preAllocatedVUs: 20,
      maxVUs: 100,
      exec: 'visit',
    },
    // Closed model: readers send the next request after a pause.
    readers: {
      executor: 'ramping-vus',
      startVUs: 1,
      stages: [
        { duration: '5s', target: 10 },
        { duration: '5s', target: 0 },
      ],
      exec: 'read',
    },
  },
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate<0.01'],
    'http_req_duration{scenario:visitors}': ['p(95)<200'],
  },
};

export function setup() {
  const response = http.get(`${base}/healthz`);
  if (response.status !== 200) {
    throw new Error(`${base} is not healthy: ${response.status} ${response.error}`);
  }
}

export function visit() {
  const response = http.get(`${base}/`);
  check(response, { 'the payload came': (r) => r.status === 200 && r.body.length > 0 });
  payloadBytes.add(response.body.length);
}

export function read() {
  group('reading', () => {
    const response = http.get(`${base}/json`, { tags: { name: 'json' } });
    check(response, {
      'it is JSON': (r) => r.headers['Content-Type'] === 'application/json',
      'it greets': (r) => r.json('message') === 'hello',
    });
  });
  sleep(0.2);
}
