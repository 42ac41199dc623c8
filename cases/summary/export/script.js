import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const c = new Counter('mine'), g = new Gauge('level'), r = new Rate('share'), t = new Trend('sizes');
export const options = { thresholds: { mine: ['count>100', 'count<100'], 'sizes{a:b}': ['avg>=0'] } };
export default function () { group('g', () => { check(1, { ok: true, no: false }); }); c.add(3); g.add(2); r.add(1); r.add(0); t.add(7); t.add(8); }
