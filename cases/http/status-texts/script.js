import http from 'k6/http';
export default function () {
  for (const code of [200, 201, 204, 206, 226, 304, 400, 404, 418, 422, 425, 429, 451, 499, 500, 503, 511, 599, 999]) {
    const r = http.get(`${__ENV.BASE}/status/${code}`);
    console.log(code, r.status, r.status_text, r.error_code, JSON.stringify(r.error), JSON.stringify(r.body));
  }
}
