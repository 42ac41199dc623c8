import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/cookie-attributes`);
  for (const name of Object.keys(r.cookies).sort()) for (const c of r.cookies[name]) console.log(name, Object.keys(c).sort().map((key) => key + '=' + c[key]).join());
}
