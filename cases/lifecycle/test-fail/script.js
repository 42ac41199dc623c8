import exec from 'k6/execution';
export const options = { iterations: 3, vus: 1 };
export default function () {
  if (__ITER === 1) exec.test.fail('not good');
  console.log(__ITER);
}
