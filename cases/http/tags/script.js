import http from 'k6/http';
export default function () {
  const url = `${__ENV.BASE}/get`;
  http.get(url, { tags: { mine: 'a', number: 12, yes: true } });
  http.get(url, { tags: { method: 'overridden', status: '999', scenario: 'mine' } });
  try { http.get(url, { tags: { list: [1] } }); } catch (e) { console.log(String(e.message || e)); }
}
