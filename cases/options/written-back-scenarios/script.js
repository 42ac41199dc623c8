import exec from 'k6/execution';
export const options = { vus: 1, iterations: 2, tags: { a: '1' }, thresholds: { iterations: ['count==2'] } };
export default function () {
  if (__ITER > 0) return;
  console.log(JSON.stringify(Object.keys(exec.test.options).sort()));
  console.log(JSON.stringify(exec.test.options.scenarios), JSON.stringify(exec.test.options.thresholds), JSON.stringify(exec.test.options.tags), options.vus);
  try { exec.test.options.vus = 9; console.log('set', exec.test.options.vus); } catch (e) { console.log('threw', e.name); }
}
