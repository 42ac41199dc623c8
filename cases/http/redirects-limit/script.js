import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/redirect/12`);
  console.log(r.status, r.headers.Location, r.error_code);
  const none = http.get(`${__ENV.BASE}/redirect/1`, { redirects: 0 });
  console.log(none.status, none.headers.Location);
  console.log(http.get(`${__ENV.BASE}/redirect/3`, { redirects: 2 }).status);
}
