import http from 'k6/http';
export default function () {
  for (const timeout of [20, '20ms', '20', '0.02s', '5s', 5000]) {
    const r = http.get(`${__ENV.BASE}/delay/200`, { timeout });
    console.log(timeout, r.status, r.error_code, r.error, JSON.stringify(r.headers) === '{}');
  }
}
