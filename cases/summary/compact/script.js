import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const c = new Counter('mine'), g = new Gauge('level'), r = new Rate('share'), t = new Trend('sizes'), time = new Trend('times', true);
export const options = { vus: 2, iterations: 4, thresholds: { 'http_req_duration{kind:a}': ['p(95)<2000'], sizes: ['max<5', 'min>=0'] } };
export default function () {
  group('g', () => { check(http.get(`${__ENV.BASE}/get`, { tags: { kind: 'a' } }), { ok: (r) => r.status === 200 }); });
  c.add(3); g.add(2); r.add(1); t.add(7); time.add(70);
}
