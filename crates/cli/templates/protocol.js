import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Trend } from 'k6/metrics';

const orderTime = new Trend('order_time', true);

export const options = {
  scenarios: {
    // A closed model: a number of users that ramps up and down.
    browse: {
      executor: 'ramping-vus',
      stages: [
        { duration: '10s', target: 20 },
        { duration: '20s', target: 20 },
        { duration: '5s', target: 0 },
      ],
      exec: 'browse',
    },
    // An open model: orders arrive at a rate, however slow the responses are.
    order: {
      executor: 'constant-arrival-rate',
      rate: 50,
      timeUnit: '1s',
      duration: '35s',
      preAllocatedVUs: 20,
      maxVUs: 200,
      exec: 'order',
    },
  },
  thresholds: {
    'http_req_duration{scenario:browse}': ['p(95)<500'],
    'http_req_duration{scenario:order}': ['p(99)<1000'],
    checks: ['rate>0.99'],
  },
};

const BASE = __ENV.BASE || 'http://127.0.0.1:10080';

// Once, before all users; what it returns, each of them gets.
export function setup() {
  return { base: BASE };
}

export function browse(data) {
  group('front page', () => {
    const answer = http.get(`${data.base}/`, { tags: { name: 'front' } });
    check(answer, { 'status is 200': (r) => r.status === 200 });
  });
  sleep(Math.random() * 2);
}

export function order(data) {
  const body = JSON.stringify({ item: 'anchor', amount: 1 });
  const params = { headers: { 'Content-Type': 'application/json' }, tags: { name: 'order' } };
  const answer = http.post(`${data.base}/`, body, params);
  check(answer, { 'accepted': (r) => r.status < 400 });
  orderTime.add(answer.timings.duration);
}
