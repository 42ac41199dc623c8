import exec from 'k6/execution';
export const options = { iterations: 5, vus: 1 };
export default function () {
  console.log(`iteration ${__ITER}`);
  if (__ITER === 1) exec.test.abort('enough');
  console.log('after');
}
export function teardown() { console.log('teardown'); }
