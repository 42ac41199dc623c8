import http from 'k6/http';
import { check, group } from 'k6';
export default function () {
  group('started here', () => { http.asyncRequest('GET', `${__ENV.BASE}/get`).then((r) => check(r, { later: (r) => r.status === 200 })); });
}
