import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/delay/900`, { timeout: 300, tags: { name: 'slow' } });
  // The timeout includes connecting, which takes a while on a busy machine, and the duration does not.
  const time = r.timings.blocked + r.timings.duration;
  console.log(r.status, r.error_code, r.error, r.body, time >= 200, JSON.stringify(r.headers), r.status_text);
}
