import http from 'k6/http';
import exec from 'k6/execution';
import { check, sleep } from 'k6';

// Five users for ten seconds. Every option is also a flag: plimsoll run -u 50 -d 1m FILE
export const options = {
  vus: 5,
  duration: '10s',
  thresholds: {
    // The run fails if more than 1% of the requests fail.
    http_req_failed: ['rate<0.01'],
    // A limit for the slowest 5% of the requests:
    // http_req_duration: ['p(95)<500'],
  },
};

// Another address for one run: plimsoll run -e TARGET=https://… FILE
const TARGET = __ENV.TARGET || 'http://127.0.0.1:10080/';

// Runs once, before the users start. If the service does not respond, there is nothing to measure.
export function setup() {
  const response = http.get(TARGET);
  if (response.status === 0) {
    exec.test.abort(
      `no response from ${TARGET}: ${response.error}. Is the service running? ` +
        'To try this script without a service of your own: plimsoll serve payload',
    );
  }
}

// What each user repeats.
export default function () {
  const response = http.get(TARGET);
  check(response, {
    'status is below 400': (r) => r.status > 0 && r.status < 400,
    'body is not empty': (r) => r.body !== null && r.body.length > 0,
  });
  // The user's think time, in seconds.
  sleep(1);
}
