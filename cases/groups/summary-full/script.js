import http from 'k6/http';
import { check, group, sleep } from 'k6';
export const options = { scenarios: {
  one: { executor: 'shared-iterations', exec: 'one' }, two: { executor: 'shared-iterations', exec: 'two' },
} };
// The sleep makes `plain` the first check of the run, because the summary lists checks in that order.
export function one() { sleep(1); group('shop', () => { check(http.get(`${__ENV.BASE}/get`), { ok: (r) => r.status === 200 }); group('cart', () => check(1, { filled: false })); }); }
export function two() { check(1, { plain: true }); }
