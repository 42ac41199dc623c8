import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.BASE}/latin1`); console.log(r.body.length, r.body.charCodeAt(3)); }
