import http from 'k6/http';
export default function () {
  for (const compression of ['gzip', 'deflate', 'br', 'zstd', 'gzip, br']) {
    const r = http.post(`${__ENV.BASE}/back`, 'round and round '.repeat(20), { compression });
    console.log(compression, r.status, r.body.length, r.request.headers['Content-Encoding'], Number(r.headers['X-Length']) < 200);
  }
  http.post(`${__ENV.BASE}/back`, 'x', { compression: 'squeeze' });
}
