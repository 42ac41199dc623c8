import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const c = new Counter('c1');
export default function () {
  for (const value of ['text', 5, true, null, undefined, {}, [], () => 1]) {
    try { exec.vu.metrics.tags.own = value; console.log(typeof value, JSON.stringify(exec.vu.metrics.tags.own)); } catch (e) { console.log(typeof value, 'threw', e.name); }
  }
  exec.vu.metrics.metadata.trace = 'abc';
  c.add(1);
  console.log(JSON.stringify(exec.vu.metrics.metadata), Object.keys(exec.vu.metrics.tags).sort().join(), 'own' in exec.vu.metrics.tags);
  delete exec.vu.metrics.tags.own;
  console.log(exec.vu.metrics.tags.own, exec.vu.tags === undefined);
}
