import http from 'k6/http';
export const options = { iterations: 2, vus: 1 };
export default function () {
  console.log(http.get(`${__ENV.BASE}/cookies`).body);
  const r = http.get(`${__ENV.BASE}/set-cookie?a=1&b=two`);
  console.log(JSON.stringify(r.cookies));
  console.log(http.get(`${__ENV.BASE}/cookies`).body);
}
