import { check, group } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
export default async function () {
  exec.vu.metrics.tags.phase = 'one';
  seen.add(1);
  await Promise.resolve();
  exec.vu.metrics.tags.phase = 'two';
  check(1, { 'after await': (v) => v === 1 });
  seen.add(1);
  group('g', () => { check(2, { inside: true }); seen.add(1); });
  await new Promise((resolve) => setTimeout(resolve, 5));
  delete exec.vu.metrics.tags.phase;
  seen.add(1);
}
