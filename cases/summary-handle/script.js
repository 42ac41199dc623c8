import { check, group } from 'k6';
import { Counter, Gauge } from 'k6/metrics';
const c = new Counter('mine'), g = new Gauge('level');
export const options = { iterations: 2, vus: 1, thresholds: { checks: ['rate>0.1'], mine: ['count>100'] } };
export function setup() { return { from: 'setup' }; }
export default function () { group('g', () => check(__ITER, { zero: (v) => v === 0 })); c.add(2); g.add(__ITER); }
export function handleSummary(data) {
  const { metrics, root_group, options, state, setup_data } = data;
  console.log(Object.keys(data).sort().join());
  console.log(JSON.stringify(root_group));
  console.log(JSON.stringify(options), Object.keys(state).sort().join(), state.isStdOutTTY, JSON.stringify(setup_data));
  console.log(Object.keys(metrics).filter((n) => !n.startsWith('vus')).sort().join());
  for (const name of ['checks', 'level', 'iterations', 'iteration_duration', 'mine']) {
    const m = metrics[name];
    console.log(name, m.type, m.contains, Object.keys(m.values).sort().join(), JSON.stringify(m.thresholds));
  }
  console.log(metrics.checks.values.passes, metrics.checks.values.fails, metrics.checks.values.rate, metrics.mine.values.count, JSON.stringify(metrics.level.values));
  return {};
}
