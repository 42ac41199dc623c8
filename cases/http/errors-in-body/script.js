import http from 'k6/http';
import { check } from 'k6';
export default function () {
  for (const how of ['reset-in-body', 'half', 'chunk', 'huge-header', 'stall']) {
    const r = http.get(`${__ENV.RAW}/${how}`, { tags: { name: how }, timeout: how === 'stall' ? '100ms' : '5s' });
    check(r, { came: (r) => r.status === 200 });
    console.log(how, r.status, r.error_code, r.body);
  }
  check(http.get(`${__ENV.BASE}/get`), { 'goes on': (r) => r.status === 200 });
}
