import http from 'k6/http';
export default function () {
  const r = http.post(`${__ENV.BASE}/echo`, { f: http.file('data', 'name.txt') }, { headers: { 'Content-Type': 'own/type' } });
  console.log(r.json('headers.content-type').replace(/boundary=.*/, 'boundary='), r.json('body').includes('data'));
}
