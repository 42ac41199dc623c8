import http from 'k6/http';
export default function () {
  for (const status of [200, 201, 204, 304, 400, 401, 404, 418, 429, 500, 503, 599]) {
    const r = http.get(`${__ENV.BASE}/status/${status}`);
    console.log(r.status, r.error_code, r.error, r.status_text, r.body);
  }
}
