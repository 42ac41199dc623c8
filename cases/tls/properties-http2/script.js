import http from 'k6/http';
export const options = { tlsVersion: http.TLS_1_2 };
export default function () {
  const r = http.get(`${__ENV.TLS}/get`);
  console.log(r.status, r.proto, r.tls_version, /^TLS_ECDHE_/.test(r.tls_cipher_suite), r.error_code);
}
