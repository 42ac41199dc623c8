import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/redirect-to?url=/set-cookie?a=1`);
  console.log(r.status, r.url.replace(__ENV.BASE, ''));
  console.log(http.get(`${__ENV.BASE}/cookies`).body);
}
