import http from 'k6/http';
import { check } from 'k6';
import { Counter } from 'k6/metrics';
const c = new Counter('mine');
export const options = { thresholds: { http_req_failed: ['rate<0.5'] } };
export default function () { check(http.get(`${__ENV.BASE}/get`), { ok: (r) => r.status === 200 }); c.add(3); }
