import http from 'k6/http';
export default function () {
  for (const entry of [null, undefined, 5, true, '', [], ['GET'], [null, null], {}, { method: 'GET' }, { url: 5 }, [5, 5], () => 1]) {
    try { console.log(JSON.stringify(entry), http.batch([entry]).map((r) => r.status + ' ' + r.error_code).join()); } catch (e) { console.log(JSON.stringify(entry), 'threw', e.name); }
  }
}
