import http from 'k6/http';
export default function () {
  const all = http.batch([`${__ENV.BASE}/delay/60`, `${__ENV.BASE}/delay/1`, `${__ENV.BASE}/delay/30`, `${__ENV.BASE}/status/404`]);
  console.log(all.map((r) => r.json ? r.status + ':' + (r.status === 200 ? r.json('delayed') : '') : 'none').join(' '));
}
