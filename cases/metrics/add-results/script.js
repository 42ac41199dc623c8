import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const all = [new Counter('c1'), new Gauge('g1'), new Rate('r1'), new Trend('t1')];
export default function () {
  for (const metric of all) for (const value of [1, '5', ' 7 ', '0x10', '', true, null, undefined, [2], new Date(5), 10n, Infinity, () => 1]) {
    try { console.log(metric.name, String(value), metric.add(value)); } catch (e) { console.log(metric.name, String(value), 'threw', e.name); }
  }
}
