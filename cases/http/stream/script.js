import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.BASE}/stream/5`); console.log(r.body.split('\n').length, r.headers['Transfer-Encoding'], r.headers['Content-Length']); }
