import http from 'k6/http';
export default function () {
  for (const url of [undefined, null, 5, true, {}, [], { url: 'x' }, [`${__ENV.BASE}/get`], new String(`${__ENV.BASE}/get`), { toString: () => `${__ENV.BASE}/get` }]) {
    try { const r = http.get(url); console.log(JSON.stringify(url)?.replace(__ENV.BASE, ''), r.status, r.error_code); } catch (e) { console.log(JSON.stringify(url), 'threw', e.name); }
  }
}
