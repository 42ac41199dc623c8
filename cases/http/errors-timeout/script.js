import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/delay/3000`, { timeout: 100 });
  console.log(r.status, r.error_code, r.error);
  console.log(http.get(`${__ENV.BASE}/delay/3000`, { timeout: '150ms' }).error_code, http.get(`${__ENV.BASE}/delay/10`, { timeout: '2s' }).status);
}
