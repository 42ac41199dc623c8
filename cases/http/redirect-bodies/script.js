import http from 'k6/http';
export default function () {
  for (const status of [301, 302, 303, 307, 308]) {
    for (const method of ['POST', 'PUT', 'HEAD']) {
      const r = http.request(method, `${__ENV.BASE}/redirect-to?status=${status}&url=/echo`, method === 'HEAD' ? null : 'body', { headers: { 'Content-Type': 'a/b', 'X-A': '1' } });
      console.log(status, method, r.status, r.request.method, method === 'HEAD' ? '' : [r.json('method'), r.json('body'), r.json('headers.content-type'), r.json('headers.x-a')].join());
    }
  }
}
