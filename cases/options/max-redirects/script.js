import http from 'k6/http';
export const options = { maxRedirects: 2 };
export default function () {
  const r = http.get(`${__ENV.BASE}/redirect/5`);
  console.log(r.status, r.url.slice(-11), r.error);
}
