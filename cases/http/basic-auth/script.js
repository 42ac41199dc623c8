import http from 'k6/http';
export default function () {
  const at = __ENV.BASE.replace('http://', 'http://user:pass@');
  const r = http.get(`${at}/basic/user/pass`);
  console.log(r.status, r.body, r.url.includes('pass@'), r.request.url.includes('pass@'));
  console.log(http.get(`${__ENV.BASE}/basic/user/pass`).status);
}
