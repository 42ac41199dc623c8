import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const all = [new Counter('c1'), new Gauge('g1'), new Rate('r1'), new Trend('t1')];
export const options = { thresholds: { c1: ['count==0'], r1: ['rate>0.5'], t1: ['p(95)<1'], g1: ['value<1'] } };
export default function () {}
export function handleSummary(data) { return { stdout: ['c1', 'g1', 'r1', 't1'].map((n) => `${n} ${data.metrics[n] ? JSON.stringify(data.metrics[n].thresholds) : 'absent'}`).join('\n') + '\n' }; }
