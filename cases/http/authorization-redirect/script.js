import http from 'k6/http';
export default function () {
  const other = __ENV.BASE.replace('127.0.0.1', 'localhost');
  const r = http.get(`${__ENV.BASE}/redirect-to?url=${other}/get`, { headers: { Authorization: 'Bearer t', 'X-A': '1', Cookie: 'c=1' } });
  console.log(r.status, r.json('headers.authorization'), r.json('headers.x-a'), r.json('headers.cookie'));
  const same = http.get(`${__ENV.BASE}/redirect-to?url=/get`, { headers: { Authorization: 'Bearer t', Cookie: 'c=1' } });
  console.log(same.json('headers.authorization'), same.json('headers.cookie'), same.json('headers.referer')?.replace(__ENV.BASE, ''));
}
