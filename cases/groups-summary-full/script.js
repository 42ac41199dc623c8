import http from 'k6/http';
import { check, group } from 'k6';
export const options = { scenarios: {
  one: { executor: 'shared-iterations', exec: 'one' }, two: { executor: 'shared-iterations', exec: 'two' },
} };
export function one() { group('shop', () => { check(http.get(`${__ENV.BASE}/get`), { ok: (r) => r.status === 200 }); group('cart', () => check(1, { filled: false })); }); }
export function two() { check(1, { plain: true }); }
