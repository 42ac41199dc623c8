import http from 'k6/http';
export const options = { insecureSkipTLSVerify: true };
export default function () {
  const r = http.get(`${__ENV.TLS}/get`);
  console.log(r.status, r.proto, r.tls_version, r.tls_cipher_suite.startsWith('TLS_'), r.json('version'));
  const old = http.get(`${__ENV.TLS12}/get`);
  console.log(old.status, old.proto, old.tls_version, old.json('version'));
}
