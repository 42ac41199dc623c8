import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/json`);
  console.log(Object.keys(JSON.parse(JSON.stringify(r))).sort().join());
  console.log(r.status, r.status_text, r.proto, r.url.endsWith('/json'), r.remote_ip, r.remote_port > 0, r.error === '', r.error_code, r.tls_version === '', typeof r.body, r.body.length);
  console.log(Object.keys(r.timings).sort().join(), Object.values(r.timings).every((t) => typeof t === 'number' && t >= 0));
  console.log(Object.keys(r.request).sort().join(), r.request.method, r.request.body, JSON.stringify(r.cookies), JSON.stringify(r.ocsp));
  const t = r.timings;
  console.log(Math.abs(t.sending + t.waiting + t.receiving - t.duration) < 0.001, t.looking_up === 0);
}
