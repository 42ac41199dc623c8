import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import { check, group } from 'k6';
const [c, g, r, t] = [new Counter('c1'), new Gauge('g1'), new Rate('r1'), new Trend('t1')];
export const options = { thresholds: { 'c1{a:1}': ['count>0'], r1: ['rate<0.1'] }, summaryTrendStats: ['min', 'max', 'p(50)'] };
export default function () { c.add(2, { a: '1' }); g.add(3); r.add(true); r.add(false); t.add(5); group('g', () => check(1, { yes: true, no: false })); }
