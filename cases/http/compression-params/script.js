import http from 'k6/http';
export default function () {
  for (const compression of ['gzip', 'deflate', 'br', 'zstd', 'gzip, deflate', 'deflate,gzip', ' gzip ', 'GZIP', '', null]) {
    try {
      const r = http.post(`${__ENV.BASE}/back`, 'x'.repeat(500), { compression });
      console.log(JSON.stringify(compression), r.status, r.error_code, r.status ? r.body.length + ' ' + r.headers['Content-Encoding'] + ' ' + (Number(r.headers['X-Length']) < 100) : '');
    } catch (e) { console.log(JSON.stringify(compression), 'threw', e.name); }
  }
}
