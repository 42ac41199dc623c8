import http from 'k6/http';
export default function () {
  for (const timeout of [60000, '60s', '1m', '1m30s', 0, -1, '0s', '', null, undefined, '5000', 'soon', '1x', true, {}, 1e400, '1.5s', '5000ms']) {
    try { const r = http.get(`${__ENV.BASE}/get`, { timeout }); console.log(JSON.stringify(timeout), r.status, r.error_code); } catch (e) { console.log(JSON.stringify(timeout), 'threw', e.name); }
  }
}
