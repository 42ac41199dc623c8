import exec from 'k6/execution';
import http from 'k6/http';
export const options = { iterations: 5 };
export default function () {
  const r = http.get(`${__ENV.BASE}/status/${__ITER === 2 ? 500 : 200}`);
  console.log(__ITER, r.status);
  if (r.status !== 200) exec.test.abort(`status ${r.status} in iteration ${__ITER}`);
  console.log('went on');
}
export function teardown() { console.log('teardown'); }
