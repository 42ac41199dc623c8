import http from 'k6/http';
import { Trend } from 'k6/metrics';
const waiting = new Trend('my_waiting', true), size = new Trend('body_size');
export const options = { iterations: 3, summaryTrendStats: ['count', 'min', 'max'] };
export default function () {
  const r = http.get(`${__ENV.BASE}/bytes/${(__ITER + 1) * 100}`);
  waiting.add(r.timings.waiting);
  size.add(r.body.length, { step: `s${__ITER}` });
}
export function handleSummary(data) { const { min, max, count } = data.metrics.body_size.values; return { stdout: `${min} ${max} ${count} ${Object.keys(data.metrics.my_waiting.values).join()}\n` }; }
