import http from 'k6/http';
import { group } from 'k6';
import { Counter } from 'k6/metrics';
import exec from 'k6/execution';
const c = new Counter('mine');
export const options = { tags: { from: 'options', both: 'options' } };
export default function () {
  exec.vu.metrics.tags.user = 'u1';
  exec.vu.metrics.tags.both = 'vu';
  group('a', () => { http.get(`${__ENV.BASE}/get`, { tags: { request: 'r1', both: 'request' } }); c.add(1, { own: 'm', both: 'metric' }); });
  delete exec.vu.metrics.tags.user;
  c.add(1);
}
