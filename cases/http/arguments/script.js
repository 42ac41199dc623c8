import http from 'k6/http';
export default function () {
  const url = `${__ENV.BASE}/get`;
  console.log(http.get(url, null).status, http.get(url, undefined).status, http.get(url, {}).status, http.get(url, { headers: null, tags: null, cookies: undefined }).status);
  for (const make of [() => http.get(), () => http.get(null), () => http.get(12), () => http.request('GET'), () => http.get(url, { timeout: 'soon' }), () => http.get(url, { unknown: 1 })]) {
    try { console.log(make().status); } catch (e) { console.log('threw', String(e.message || e).slice(0, 90)); }
  }
}
