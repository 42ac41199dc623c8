import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/redirect/2`);
  console.log(r.status, r.url.replace(__ENV.BASE, ''), r.request.url.replace(__ENV.BASE, ''), r.request.method, r.body);
  const stopped = http.get(`${__ENV.BASE}/redirect/2`, { redirects: 1 });
  console.log(stopped.status, stopped.url.replace(__ENV.BASE, ''), stopped.headers.Location);
  const none = http.get(`${__ENV.BASE}/redirect/2`, { redirects: 0 });
  console.log(none.status, none.url.replace(__ENV.BASE, ''), none.headers.Location);
}
