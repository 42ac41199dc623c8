import { group, check } from 'k6';
import http from 'k6/http';
export function setup() { group('in setup', () => check(http.get(`${__ENV.BASE}/get`), { fine: (r) => r.status === 200 })); }
export default function () { check(1, { main: true }); }
export function teardown() { check(http.get(`${__ENV.BASE}/status/500`), { fine: (r) => r.status === 200 }, { at: 'end' }); }
