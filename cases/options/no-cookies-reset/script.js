import http from 'k6/http';
export const options = { noCookiesReset: true, iterations: 2, vus: 1 };
export default function () {
  console.log(http.get(`${__ENV.BASE}/cookies`).body);
  http.get(`${__ENV.BASE}/set-cookie?kept=${__ITER}`);
}
