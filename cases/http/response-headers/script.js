import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/headers`);
  console.log(Object.keys(r.headers).sort().join(), r.headers['X-Many'], r.headers['Etag'], r.headers['X-Mixed-Case'], r.headers['x-one']);
  console.log(JSON.stringify(http.get(`${__ENV.RAW}/twice`).headers));
}
