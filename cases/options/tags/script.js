import http from 'k6/http';
import { check } from 'k6';
export const options = { tags: { lost: 'replaced' } };
export default function () { check(http.get(`${__ENV.BASE}/get`), { ok: (r) => r.status === 200 }); }
