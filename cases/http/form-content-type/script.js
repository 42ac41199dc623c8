import http from 'k6/http';
export default function () {
  for (const type of ['application/x-www-form-urlencoded', 'application/json', 'multipart/form-data', 'text/plain', '']) {
    const r = http.post(`${__ENV.BASE}/echo`, { a: 'b c' }, { headers: { 'Content-Type': type } });
    console.log(JSON.stringify(type), r.json('headers.content-type'), r.json('body'));
  }
}
