import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.RAW}/switch`); console.log(r.status, r.error_code); }
