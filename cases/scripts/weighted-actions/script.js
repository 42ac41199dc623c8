import { Counter } from 'k6/metrics';
import { group } from 'k6';
const actions = new Counter('actions');
export const options = { iterations: 10 };
const weights = [['browse', 5], ['search', 3], ['buy', 2]];
function choose(n) { for (const [name, weight] of weights) { if (n < weight) return name; n -= weight; } return null; }
export default function () {
  const action = choose(__ITER % 10);
  group(action, () => actions.add(1, { action }));
}
export function handleSummary(data) { return { stdout: `${data.metrics.actions.values.count} ${data.root_group.groups.map((g) => g.name).sort().join()}\n` }; }
