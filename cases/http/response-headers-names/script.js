import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/headers`);
  console.log(Object.keys(r.headers).sort().join(), r.headers['X-Many'], r.headers['x-many'], r.headers.Etag, r.headers['ETag'], r.headers['Content-Length']);
}
