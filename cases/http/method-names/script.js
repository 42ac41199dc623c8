import http from 'k6/http';
export default function () {
  for (const method of ['get', 'Post', 'PURGE', 'PROPFIND', 'M-SEARCH', 'x']) console.log(method, http.request(method, `${__ENV.BASE}/echo`, 'b').json('method'));
  for (const method of [null, undefined, 5, '', ' ']) {
    try { const r = http.request(method, `${__ENV.BASE}/echo`); console.log(JSON.stringify(method), r.status, r.error_code); } catch (e) { console.log(JSON.stringify(method), 'threw', e.name); }
  }
}
