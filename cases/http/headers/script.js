import http from 'k6/http';
export default function () {
  const url = `${__ENV.BASE}/echo`;
  const r = http.post(url, '{}', { headers: { 'Content-Type': 'application/json', 'x-lower': 'a', 'X-Number': 12, Host: 'other.test' } });
  console.log(r.body);
  console.log(JSON.stringify(r.request.headers['X-Lower']), JSON.stringify(r.request.headers['Content-Type']), Object.keys(r.request.headers).sort().join());
  console.log(http.post(url, { a: 1 }, { headers: { 'content-type': 'text/odd' } }).body);
}
