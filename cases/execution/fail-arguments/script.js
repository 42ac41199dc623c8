import exec from 'k6/execution';
export const options = { iterations: 2 };
export default function () { console.log(__ITER, exec.test.fail(__ITER ? 'again' : undefined)); }
