import http from 'k6/http';
import { Counter } from 'k6/metrics';
const errors = new Counter('errors');
export const options = { thresholds: { 'errors{kind:refused}': ['count<2'], 'errors{kind:status}': ['count==2'], errors: ['count==3'] } };
export default function () {
  for (const url of [`${__ENV.BASE}/status/404`, `${__ENV.BASE}/status/500`, 'http://127.0.0.1:1/', `${__ENV.BASE}/get`]) {
    const r = http.get(url);
    if (r.error_code) errors.add(1, { kind: r.status ? 'status' : 'refused', code: String(r.error_code) });
  }
}
