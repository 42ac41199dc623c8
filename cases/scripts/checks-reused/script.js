import http from 'k6/http';
import { check } from 'k6';
const isOk = { 'status is 200': (r) => r.status === 200 };
const hasPath = (path) => ({ [`path is ${path}`]: (r) => r.json('path') === path });
export default function () {
  const all = ['/get/a', '/get/b'].map((path) => check(http.get(`${__ENV.BASE}${path}`), { ...isOk, ...hasPath(path) }, { path }));
  console.log(all.join(), check(http.get(`${__ENV.BASE}/status/404`), isOk, { path: '/status' }));
}
