import http from 'k6/http';
export default function () {
  for (const value of [5, 1.5, true, null, undefined, ['a', 'b'], { a: 1 }, '', ' padded ', 'ünïcode', 'tab\there']) {
    try { const r = http.get(`${__ENV.BASE}/get`, { headers: { 'X-V': value } }); console.log(JSON.stringify(value), r.status, JSON.stringify(r.status ? r.json('headers.x-v') : r.error_code)); } catch (e) { console.log(JSON.stringify(value), 'threw', e.name); }
  }
}
