import { Counter, Trend } from 'k6/metrics';
const mine = new Counter('mine');
new Trend('unused');
export const options = {
  thresholds: {
    mine: [], 'mine{a:b}': [], 'mine{a:c}': [], 'unused{x:y}': [], checks: [], http_req_duration: [], 'http_req_duration{name:x}': [],
  },
};
export default function () { mine.add(1, { a: 'b' }); }
export function handleSummary(data) {
  const rows = Object.entries(data.metrics).filter(([name]) => !/^(iteration_duration|vus|data_)/.test(name));
  return { stdout: rows.map(([name, m]) => [name, m.type, m.contains, m.values.count, JSON.stringify(m.thresholds)].join(' ')).sort().join('\n') + '\n' };
}
