import http from 'k6/http';
export default function () {
  http.get(`${__ENV.BASE}/set-cookie?a=jar`);
  console.log(http.get(`${__ENV.BASE}/cookies`, { cookies: { b: 'own' } }).body);
  console.log(http.get(`${__ENV.BASE}/cookies`, { cookies: { a: 'not replaced' } }).body);
  const r = http.get(`${__ENV.BASE}/cookies`, { cookies: { a: { value: 'replaced', replace: true } } });
  console.log(r.body, JSON.stringify(r.request.cookies));
  console.log(http.get(`${__ENV.BASE}/cookies`, { headers: { Cookie: 'raw=1' } }).body);
}
