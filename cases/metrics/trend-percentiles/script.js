import { Trend } from 'k6/metrics';
const t = new Trend('t1');
export const options = { summaryTrendStats: ['avg', 'med', 'min', 'max', 'count', 'p(0)', 'p(10)', 'p(33.3)', 'p(75)', 'p(99.99)', 'p(100)'] };
export default function () { for (const v of [10, 20, 40, 80, 160]) t.add(v); }
export function handleSummary(data) { return { stdout: Object.entries(data.metrics.t1.values).sort().map(([k, v]) => `${k} ${v}`).join('\n') + '\n' }; }
