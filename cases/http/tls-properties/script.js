import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.TLS12}/get`);
  console.log(r.status, r.proto, r.tls_version, r.tls_version === http.TLS_1_2, typeof r.tls_cipher_suite, r.ocsp.status, JSON.stringify(r.ocsp));
  const clear = http.get(`${__ENV.BASE}/get`);
  console.log(JSON.stringify([clear.tls_version, clear.tls_cipher_suite, clear.ocsp]));
}
