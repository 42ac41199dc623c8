import http from 'k6/http';
import exec from 'k6/execution';
import { check, group, sleep } from 'k6';
import { Trend } from 'k6/metrics';

// A metric of your own; true means that its values are times in milliseconds.
const visitTime = new Trend('visit_time', true);

export const options = {
  scenarios: {
    // A closed model: a number of users that ramps up and down.
    browse: {
      executor: 'ramping-vus',
      stages: [
        { duration: '2s', target: 5 },
        { duration: '6s', target: 5 },
        { duration: '2s', target: 0 },
      ],
      exec: 'browse',
    },
    // An open model: requests arrive at a rate, however slow the responses are.
    arrive: {
      executor: 'constant-arrival-rate',
      rate: 5,
      timeUnit: '1s',
      duration: '10s',
      preAllocatedVUs: 5,
      maxVUs: 50,
      exec: 'arrive',
    },
  },
  thresholds: {
    checks: ['rate>0.99'],
    // Limits for one scenario each:
    // 'http_req_duration{scenario:browse}': ['p(95)<500'],
    // 'http_req_duration{scenario:arrive}': ['p(99)<1000'],
  },
};

// Another address for one run: plimsoll run -e TARGET=https://… FILE
const TARGET = __ENV.TARGET || 'http://127.0.0.1:10080/';

// Runs once, before the users start. Each of them gets what it returns.
export function setup() {
  const response = http.get(TARGET);
  if (response.status === 0) {
    exec.test.abort(
      `no response from ${TARGET}: ${response.error}. Is the service running? ` +
        'To try this script without a service of your own: plimsoll serve payload',
    );
  }
  return { target: TARGET };
}

const isFine = { 'status is below 400': (r) => r.status > 0 && r.status < 400 };

export function browse(data) {
  group('front page', () => {
    const response = http.get(data.target, { tags: { name: 'front' } });
    check(response, isFine);
    visitTime.add(response.timings.duration);
  });
  // The user's think time, in seconds.
  sleep(1 + Math.random());
}

export function arrive(data) {
  // A request with a body:
  // http.post(data.target, JSON.stringify({ item: 'anchor' }), { headers: { 'Content-Type': 'application/json' } });
  const response = http.get(data.target, { tags: { name: 'arrival' } });
  check(response, isFine);
}

// Runs once, after the users have ended.
export function teardown(data) {
  console.log(`${data.target} was loaded`);
}
