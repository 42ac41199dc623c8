import http from 'k6/http';
export const options = { noConnectionReuse: true, iterations: 2, vus: 1 };
export default function () {
  console.log(http.get(`${__ENV.BASE}/connection`).body, http.get(`${__ENV.BASE}/connection`).body);
}
