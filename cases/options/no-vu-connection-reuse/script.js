import http from 'k6/http';
export const options = { iterations: 2, vus: 1, noVUConnectionReuse: true };
export default function () {
  console.log(http.get(`${__ENV.BASE}/connection`).json('request'), http.get(`${__ENV.BASE}/connection`).json('request'));
}
