import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.BASE}/bytes/3000000`, { responseType: 'binary' }); console.log(r.body.byteLength); }
