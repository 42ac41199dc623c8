import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: { work: { executor: 'shared-iterations', vus: 5, iterations: 5000, maxDuration: '6s' } },
};
export default function () {
  const answer = http.get(__ENV.URL);
  check(answer, { 'body begins with answer:': (a) => a.body && a.body.startsWith('answer:') });
}
