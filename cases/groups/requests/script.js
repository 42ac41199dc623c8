import http from 'k6/http';
import { group, sleep } from 'k6';
export default function () {
  http.get(`${__ENV.BASE}/get`);
  group('first', () => { http.get(`${__ENV.BASE}/get`); group('second', () => { http.get(`${__ENV.BASE}/get`); }); });
}
