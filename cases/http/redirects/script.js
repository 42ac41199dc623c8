import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/redirect/3`);
  console.log(r.status, r.url.endsWith('/redirect/0'), r.request.url.endsWith('/redirect/3'), r.body);
}
