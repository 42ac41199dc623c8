import http from 'k6/http';
export default function () {
  for (const n of [0, -0, 1.0, 1e21, 1e-7, 123456789012345680000, 0.1 + 0.2, 2 ** 53, -1.5e-10, 1e100, 100000, 1234567.891]) console.log(http.post(`${__ENV.BASE}/echo`, { n }).json('body'));
}
