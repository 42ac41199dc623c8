import http from 'k6/http';
import { check, group } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
export default async function () {
  const { tags } = exec.vu.metrics;
  const first = group('a', () => {
    tags.at = 'a';
    return http.asyncRequest('GET', `${__ENV.BASE}/delay/0.05`, null, { tags: { name: 'first' } }).then((response) => {
      check(response, { 'first arrived': (r) => r.status === 200 });
      seen.add(1);
      return http.asyncRequest('GET', `${__ENV.BASE}/get`, null, { tags: { name: 'second' } });
    });
  });
  tags.at = 'main';
  const third = http.asyncRequest('GET', `${__ENV.BASE}/delay/0.2`, null, { tags: { name: 'third' } });
  tags.at = 'later';
  const [second] = await Promise.all([first, third]);
  check(second, { 'second arrived': (r) => r.status === 200 });
  group('b', () => { http.get(`${__ENV.BASE}/get`, { tags: { name: 'fourth' } }); seen.add(2); });
}
