import { check, group } from 'k6';
import { Counter, Gauge } from 'k6/metrics';
const c = new Counter('mine'), g = new Gauge('level');
export const options = { iterations: 2, vus: 1, thresholds: { checks: ['rate>0.1'], mine: ['count>100'] } };
export function setup() { return { from: 'setup' }; }
export default function () { group('g', () => check(__ITER, { zero: (v) => v === 0 })); c.add(2); g.add(__ITER); }
export function handleSummary(data) {
  const { metrics, root_group, options, state, setup_data } = data;
  const sorted = (value) => JSON.stringify(value, Object.keys(value).sort());
  const inner = root_group.groups[0];
  console.log(Object.keys(data).filter((name) => name !== 'plimsoll').sort().join());
  console.log(Object.keys(root_group).sort().join(), root_group.name, root_group.path, root_group.id, root_group.checks.length, root_group.groups.length);
  console.log(inner.name, inner.path, inner.id, sorted(inner.checks[0]));
  console.log(sorted(options), Object.keys(state).sort().join(), state.isStdOutTTY, JSON.stringify(setup_data));
  console.log(Object.keys(metrics).filter((n) => !/^vus|^http_req_(looking_up|total|response_time|failed_duration)|send_lag/.test(n)).sort().join());
  for (const name of ['checks', 'level', 'iterations', 'iteration_duration', 'mine']) {
    const m = metrics[name];
    console.log(name, m.type, m.contains, Object.keys(m.values).sort().join(), JSON.stringify(m.thresholds));
  }
  console.log(metrics.checks.values.passes, metrics.checks.values.fails, metrics.checks.values.rate, metrics.mine.values.count, sorted(metrics.level.values));
  return {};
}
