import http from 'k6/http';
export default function () {
  try { http.get('http://127.0.0.1:1/', { throw: true }); } catch (e) { console.log(e.name, String(e.message || e)); }
  console.log(http.get(`${__ENV.BASE}/status/500`, { throw: true }).status);
  try { http.get('http://bad host/', { throw: true }); } catch (e) { console.log(String(e.message || e)); }
}
