// Requests unused indices of lists, AMOUNT at a time. The result is the number of indices
// issued, so the script counts indices, not responses.
import http from 'k6/http';
import exec from 'k6/execution';
import { check, sleep } from 'k6';
import { Counter, Rate } from 'k6/metrics';

const base = __ENV.BASE_URL || 'http://127.0.0.1:8090';
const amount = Number(__ENV.AMOUNT || 1);
// Seconds between a response and the user's next request. If it is not 0, this pause
// determines the rate, which then does not show the capacity.
const think = Number(__ENV.THINK || 0);
// If too few are available: with `delay` the request waits, with `fail` it gets 429. The check
// then accepts 429, but the request still counts as failed.
const underflow = __ENV.UNDERFLOW || 'delay';
const pool = underflow === 'fail' ? 'tests-fail' : 'tests';
const url = `${base}/pools/${pool}/new-references?amount=${amount}`;
const params = { headers: { 'X-Api-Key': __ENV.API_KEY || 'plimsoll' } };

const references = new Counter('references');
const ranDry = new Rate('ran_dry');

export const options = {
  vus: Number(__ENV.USERS || 12),
  duration: __ENV.DURATION || '30s',
  thresholds: {
    checks: ['rate==1'],
    references: ['count>0'],
    ...(underflow === 'delay' ? { http_req_failed: ['rate==0'] } : {}),
  },
};

export default function () {
  // Without this, all users would start at once and stay in lock-step.
  if (think > 0 && exec.vu.iterationInScenario === 0) {
    sleep(Math.random() * think);
  }
  const answer = http.post(url, null, params);
  const dry = answer.status === 429;
  ranDry.add(dry);
  if (dry && underflow === 'fail') {
    check(answer, { 'the pool says that it is dry': (r) => r.json('status') === 429 });
  } else if (check(answer, { 'the references came': came })) {
    references.add(amount);
  }
  if (think > 0) {
    sleep(think);
  }
}

function came(answer) {
  if (answer.status !== 200) {
    return false;
  }
  const list = answer.json('references');
  return list.length === amount && list.every((one) => one.uri !== '' && Number.isInteger(one.index));
}
