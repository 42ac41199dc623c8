import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const c = new Counter('cc'), g = new Gauge('gg'), r = new Rate('rr'), t = new Trend('tt');
export default function () {
  for (const value of [NaN, null, undefined, 'text', '12', true, {}, -5, Infinity]) {
    for (const metric of [c, g, r, t]) {
      try { metric.add(value); } catch (e) { console.log('threw', String(e.message || e)); }
    }
  }
}
