import http from 'k6/http';
export default function () {
  for (const body of [{ a: 'b'.repeat(100) }, new Uint8Array(200).buffer, '', null, undefined]) {
    const r = http.post(`${__ENV.BASE}/back`, body, { compression: 'gzip' });
    console.log(r.status, r.request.headers['Content-Encoding'], r.request.headers['Content-Type'], r.body === null ? null : r.body.length);
  }
}
