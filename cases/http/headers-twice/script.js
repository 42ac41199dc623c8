import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/get`, { headers: { 'x-a': '1', 'X-B': '2' } });
  console.log(r.json('headers.x-a'), r.json('headers.x-b'), JSON.stringify(r.request.headers['X-A']), JSON.stringify(r.request.headers['x-a']));
}
