import exec from 'k6/execution';
import http from 'k6/http';
import { check, group } from 'k6';
export const options = { iterations: 2, vus: 1 };
export default function () {
  if (__ITER === 0) {
    exec.vu.metrics.tags.mine = 'yes';
    exec.vu.tags.number = 12;
    exec.vu.metrics.metadata.trace = 'abc';
  }
  http.get(`${__ENV.BASE}/get`);
  group('inside', () => check(1, { one: (v) => v === 1 }));
  if (__ITER === 1) { delete exec.vu.metrics.tags.mine; check(1, { two: true }); }
  try { exec.vu.metrics.tags.bad = { a: 1 }; } catch (e) { console.log(String(e.message || e)); }
}
