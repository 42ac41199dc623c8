// One request and one check: the smallest script that tests anything.
import http from 'k6/http';
import { check } from 'k6';

export default function () {
  const answer = http.get(__ENV.URL);
  check(answer, { 'status is 200': (r) => r.status === 200 });
}
