import http from 'k6/http';
export const options = { insecureSkipTLSVerify: true };
export default function () {
  const url = `${__ENV.TLS}/echo`;
  const r = http.post(url, 'body', { headers: { 'X-Own': 'a' } });
  console.log(r.proto, r.body, r.status_text);
  console.log(http.batch(Array(4).fill(`${__ENV.TLS}/connection`)).map((r) => r.status).join());
  console.log(http.get(`${__ENV.TLS}/headers`).headers['X-Many']);
}
