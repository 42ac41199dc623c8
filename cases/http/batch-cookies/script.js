import http from 'k6/http';
export default function () {
  http.batch([`${__ENV.BASE}/set-cookie?a=1`, `${__ENV.BASE}/set-cookie?b=2`]);
  const [r] = http.batch([['GET', `${__ENV.BASE}/cookies`, null, { cookies: { c: '3' } }]]);
  console.log(r.body);
}
