import http from 'k6/http';
export default function () {
  console.log(http.post(`${__ENV.BASE}/echo`, 'four', { headers: { 'Content-Length': '10' } }).body);
  console.log(http.post(`${__ENV.BASE}/echo`, 'four', { headers: { 'Content-Length': '4' } }).body);
}
