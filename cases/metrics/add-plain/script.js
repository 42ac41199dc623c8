import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const all = [new Counter('c1'), new Gauge('g1'), new Rate('r1'), new Trend('t1')];
export default function () {
  for (const metric of all) {
    for (const value of [1, 2.5, '5', ' 7 ', '0x10', '', true, false, [2]]) console.log(metric.name, String(value), metric.add(value));
    for (const value of [null, undefined, NaN, 'x', {}]) {
      try { console.log(metric.name, String(value), metric.add(value)); } catch (e) { console.log(metric.name, String(value), 'threw', e.name); }
    }
  }
}
