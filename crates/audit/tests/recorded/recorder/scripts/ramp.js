import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    ramp: {
      executor: 'ramping-arrival-rate', startRate: 50, timeUnit: '1s', preAllocatedVUs: 40,
      stages: [{ target: 150, duration: '3s' }, { target: 150, duration: '7s' }],
    },
  },
};
export default function () {
  const answer = http.get(__ENV.URL);
  check(answer, { 'body begins with answer:': (a) => a.body && a.body.startsWith('answer:') });
}
