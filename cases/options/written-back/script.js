import exec from 'k6/execution';
export const options = { vus: 1, thresholds: { checks: ['rate>=0'] } };
export default function () {
  if (__ITER > 0) return;
  console.log(options.iterations, options.vus, JSON.stringify(options.tags), JSON.stringify(options.thresholds));
  console.log(exec.test.options.iterations, JSON.stringify(exec.test.options.scenarios), JSON.stringify(exec.test.options.tags));
  try { exec.test.options.vus = 7; console.log('silent', exec.test.options.vus); } catch (e) { console.log('refused'); }
}
