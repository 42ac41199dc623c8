import http from 'k6/http';
export default function () {
  const headers = { 'user-agent': 'own', 'Accept': 'a/b', 'Accept-Encoding': 'identity', 'Referer': 'http://r/', 'Content-Length': '3', 'X-Empty': '' };
  const r = http.post(`${__ENV.BASE}/echo`, 'abc', { headers });
  console.log(r.body);
  console.log(Object.keys(r.request.headers).sort().map((name) => name + '=' + r.request.headers[name].join('|')).join('; '));
}
