// Checks over HTTP with Connect's JSON: may this user view this document?
import http from 'k6/http';
import exec from 'k6/execution';
import { check, sleep } from 'k6';
import { COUNT, question } from './data.js';

const url = `${__ENV.BASE_URL || 'http://127.0.0.1:4000'}/zanzigo.v1.ZanzigoService/Check`;
const json = { headers: { 'Content-Type': 'application/json' } };
// Think time in seconds after each response. With 1, the number of users determines the rate, which
// then does not show the capacity. With 0, the system determines the rate.
const think = Number(__ENV.THINK || 1);
const denied = 0.05;

export const options = {
  vus: Number(__ENV.USERS || 100),
  duration: __ENV.DURATION || '60s',
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
  },
};

export default function () {
  // Without this, all users would start at once and stay in lock-step.
  if (think > 0 && exec.vu.iterationInScenario === 0) {
    sleep(Math.random() * think);
  }
  const allowed = Math.random() >= denied;
  const tuple = question(Math.floor(Math.random() * COUNT), allowed);
  const answer = http.post(url, JSON.stringify({ tuple }), json);
  if (allowed) {
    check(answer, { 'allowed is told': (r) => r.status === 200 && r.json('result') === true });
  } else {
    check(answer, { 'denied is told': (r) => r.status === 200 && isNo(r.json()) });
  }
  if (think > 0) {
    sleep(think);
  }
}

// Protobuf's JSON may leave out a field that is false, or write it.
function isNo(answer) {
  return Object.keys(answer).every((key) => key === 'result' && answer[key] === false);
}
