import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/json`, { responseType: 'none' });
  console.log(r.body, r.status);
  try { console.log(r.json('id')); } catch (e) { console.log(String(e.message || e)); }
}
