import http from 'k6/http';
export const options = { userAgent: 'my agent/1.0' };
export default function () {
  console.log(http.get(`${__ENV.BASE}/get`).request.headers['User-Agent']);
  console.log(http.get(`${__ENV.BASE}/get`, { headers: { 'User-Agent': 'other' } }).request.headers['User-Agent']);
}
