import { Trend } from 'k6/metrics';
const t = new Trend('steps');
export const options = { summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(50)', 'p(75)', 'p(90)', 'p(99.9)', 'count'] };
export default function () { for (let i = 1; i <= 100; i++) t.add(i); }
export function handleSummary(data) {
  const values = data.metrics.steps.values;
  return { stdout: Object.keys(values).sort().map((name) => `${name} is ${values[name]}\n`).join('') };
}
