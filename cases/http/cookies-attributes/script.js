import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/cookie-attributes`);
  for (const name of Object.keys(r.cookies).sort()) console.log(name, JSON.stringify(r.cookies[name][0], Object.keys(r.cookies[name][0]).sort()));
  console.log(http.get(`${__ENV.BASE}/cookies`).body);
}
