import http from 'k6/http';
export default function () {
  const all = http.batch(['http://127.0.0.1:1/', `${__ENV.BASE}/get`]);
  console.log(all[0].error_code, all[1].status);
  console.log(http.batch([]).length, JSON.stringify(http.batch({})));
  for (const bad of [[12], [[]], [{}], 'text', undefined]) {
    try { console.log(http.batch(bad).map((r) => `${r.status} ${r.error_code}`).join()); } catch (e) { console.log('threw', String(e.message || e)); }
  }
}
