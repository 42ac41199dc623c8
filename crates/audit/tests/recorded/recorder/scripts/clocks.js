import http from 'k6/http';
import { check } from 'k6';
import { Trend } from 'k6/metrics';

// Two ways in which a script measures by a clock that cannot carry it.
const byWallClock = new Trend('by_wall_clock', true);
const oneWay = new Trend('one_way', true);
export const options = {
  scenarios: { open: { executor: 'constant-arrival-rate', rate: 200, timeUnit: '1s', duration: '6s', preAllocatedVUs: 20 } },
};
export default function () {
  const before = Date.now();
  const answer = http.get(__ENV.URL);
  byWallClock.add(Date.now() - before);
  if (__ENV.SKEW) oneWay.add(Date.now() - (before + Number(__ENV.SKEW)));
  check(answer, { 'body begins with answer:': (a) => a.body && a.body.startsWith('answer:') });
}
