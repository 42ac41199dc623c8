import http from 'k6/http';
export default function () {
  for (const status of [301, 302, 303, 307, 308]) {
    const r = http.post(`${__ENV.BASE}/redirect-to?status=${status}&url=/echo`, 'kept?');
    console.log(status, r.status, r.body);
  }
}
