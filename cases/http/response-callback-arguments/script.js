import http from 'k6/http';
export default function () {
  for (const value of [null, undefined, 5, 'text', {}, () => true, [200], http.expectedStatuses(200)]) {
    try { http.setResponseCallback(value); console.log(typeof value, 'set'); } catch (e) { console.log(typeof value, 'threw', e.name); }
    try { console.log(typeof value, http.get(`${__ENV.BASE}/get`, { responseCallback: value }).status); } catch (e) { console.log(typeof value, 'threw', e.name); }
  }
}
