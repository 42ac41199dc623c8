import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Gauge, Rate } from 'k6/metrics';
const c = new Counter('mine'), g = new Gauge('level'), r = new Rate('share');
export const options = { thresholds: { checks: ['rate>0.9'], 'http_reqs{status:200}': ['count>0'] } };
export default function () {
  group('shop', () => { check(http.get(`${__ENV.BASE}/get`), { ok: (r) => r.status === 200, no: false }); });
  c.add(3); g.add(2); r.add(1);
}
