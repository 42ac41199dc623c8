import http from 'k6/http';
export default function () {
  for (const how of ['gzip', 'deflate', 'brotli', 'zstd', 'unknown-coding']) {
    const r = http.get(`${__ENV.BASE}/${how}`);
    console.log(how, r.status, r.error_code, r.body && r.body.length, r.headers['Content-Encoding'], r.headers['Content-Length']);
  }
}
