import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const c = new Counter('own_counter'), g = new Gauge('own_gauge'), r = new Rate('own_rate'), t = new Trend('own_trend'), time = new Trend('own_time', true);
export default function () {
  c.add(3); c.add(0.5); g.add(4); g.add(2); g.add(3); r.add(true); r.add(false); r.add(1); r.add(0);
  for (const v of [10, 20, 30, 40]) t.add(v);
  time.add(1500); time.add(0.5);
  c.add(1, { kind: 'tagged' });
}
