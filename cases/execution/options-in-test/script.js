import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 2, iterations: 1, tags: { t: 'x' }, env: { E: 'y' } } }, tags: { all: 'z' }, thresholds: { iterations: ['count==2'] }, discardResponseBodies: true };
export default function () {
  if (__VU !== 1) return;
  const o = exec.test.options;
  console.log(JSON.stringify([o.scenarios.a, o.tags, o.thresholds, o.discardResponseBodies, o.noConnectionReuse, typeof o.summaryTrendStats]));
  try { o.tags.all = 'new'; console.log('assigned'); } catch (e) { console.log(e.name); }
  console.log(o.tags.all, o === exec.test.options);
}
