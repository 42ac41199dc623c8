import http from 'k6/http';
export const options = { insecureSkipTLSVerify: true, tlsVersion: { min: 'tls1.3', max: 'tls1.3' } };
export default function () { const r = http.get(`${__ENV.TLS12}/get`); console.log(r.status, r.error_code); }
