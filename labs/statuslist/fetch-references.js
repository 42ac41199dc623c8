// Takes unused indices of lists, AMOUNT at a time. What counts is how many were handed
// out, and so they are counted; an answer without any hands out none.
import http from 'k6/http';
import exec from 'k6/execution';
import { check, sleep } from 'k6';
import { Counter, Rate } from 'k6/metrics';

const base = __ENV.BASE_URL || 'http://127.0.0.1:8090';
const amount = Number(__ENV.AMOUNT || 1);
// Seconds between an answer and the user's next request. Where they are not 0 the rate
// follows from them, and is no capacity.
const think = Number(__ENV.THINK || 0);
// `delay`: who asks when too few are ready waits. `fail`: they are told 429, which is then
// an answer that may come, but still a failed request.
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
  // Users who all begin at once would wake in lock-step for ever.
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
