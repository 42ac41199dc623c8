import http from 'k6/http';
export default function () {
  console.log(http.get(`${__ENV.TLS}/get`).status);
  const r = http.get(`${__ENV.TLS_OTHER}/get`);
  console.log(r.status, r.error_code, r.error);
}
