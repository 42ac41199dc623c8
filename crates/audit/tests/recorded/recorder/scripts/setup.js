import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: { open: { executor: 'constant-arrival-rate', rate: 100, timeUnit: '1s', duration: '6s', preAllocatedVUs: 20 } },
};
export function setup() { for (let i = 0; i < 3; i += 1) http.get(__ENV.URL); }
export default function () {
  const answer = http.get(__ENV.URL);
  check(answer, { 'body begins with answer:': (a) => a.body && a.body.startsWith('answer:') });
}
