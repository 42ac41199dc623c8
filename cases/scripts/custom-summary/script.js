import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
import { check, group } from 'k6';
const [c, g, r, t] = [new Counter('my_counter'), new Gauge('my_gauge'), new Rate('my_rate'), new Trend('my_trend')];
export const options = { iterations: 2, thresholds: { my_counter: ['count>100'], my_rate: ['rate>0.1'] } };
export default function () {
  for (let i = 0; i < 4; i++) { c.add(i); g.add(i); r.add(i % 2); t.add(i * 10); }
  group('outer', () => { group('inner', () => check(1, { 'is one': (x) => x === 1, 'is two': (x) => x === 2 })); });
}
export function handleSummary(data) {
  const lines = [];
  for (const name of ['my_counter', 'my_gauge', 'my_rate', 'my_trend', 'checks', 'iterations']) {
    const m = data.metrics[name];
    const values = Object.keys(m.values).filter((key) => key !== 'rate' || m.type === 'rate').sort().map((key) => `${key}=${m.values[key]}`).join(' ');
    lines.push(`${name} ${m.type} ${m.contains} ${values} ${JSON.stringify(m.thresholds)}`);
  }
  const inner = data.root_group.groups[0].groups[0];
  lines.push(inner.path, inner.checks.map((each) => `${each.name} ${each.passes}/${each.fails}`).join(', '));
  return { stdout: lines.join('\n') + '\n', 'summary.txt': lines.join('\n') };
}
