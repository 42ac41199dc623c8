import { Counter, Gauge, Trend, Rate } from 'k6/metrics';
const times = [0.0005, 0.5, 999.9, 1000, 61000, 3661000].map((v, i) => [new Trend(`time_${i}`, true), v]);
const plain = [0.1234567, 1e6, 1234567.891, -5].map((v, i) => [new Trend(`plain_${i}`), v]);
const gauge = new Gauge('gauge_time', true), rate = new Rate('thirds');
export default function () { for (const [t, v] of [...times, ...plain]) t.add(v); gauge.add(1500); for (const x of [1, 0, 0]) rate.add(x); }
