import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/delay/400`, { timeout: 50, tags: { name: 'slow' } });
  console.log(r.status, r.error_code, r.error, r.body, r.timings.duration >= 40, JSON.stringify(r.headers), r.status_text);
}
