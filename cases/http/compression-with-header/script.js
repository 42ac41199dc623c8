import http from 'k6/http';
export default function () {
  for (const headers of [{ 'Content-Encoding': 'gzip' }, { 'Content-Encoding': 'br' }, { 'Content-Length': '5' }]) {
    const r = http.post(`${__ENV.BASE}/back`, 'abcdefghij', { compression: 'gzip', headers });
    console.log(JSON.stringify(headers), r.status, r.headers['Content-Encoding'], r.body);
  }
}
