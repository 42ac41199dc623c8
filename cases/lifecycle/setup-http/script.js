import http from 'k6/http';
import { check } from 'k6';
export function setup() { check(http.get(`${__ENV.BASE}/get`), { ok: (r) => r.status === 200 }); }
export default function () {}
export function teardown() { http.get(`${__ENV.BASE}/get`); }
