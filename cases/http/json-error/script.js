import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/text/[1,x]`);
  try { r.json(); } catch (e) { console.log(String(e.message || e)); }
  console.log(typeof r.json('a'));
  http.get(`${__ENV.BASE}/empty`).json();
}
