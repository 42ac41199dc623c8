import http from 'k6/http';
export default function () {
  for (const path of ['/get', '/get?', '/get?a=1&a=2', '/get?a=b c', '/get?q=ü', '/get/%20x', '/get/a b', '/get/ü', '/get/a//b', '/get/./x/../y', '/get#fragment', '/get?x=#y', '/get;p=1', '/get?a=%zz', '/get/%zz', '/get?a=1+2', '/get?[]', '/get?"\'<>']) {
    const r = http.get(`${__ENV.BASE}${path}`);
    console.log(path, r.status, r.status ? r.json('path') + ' ' + r.json('query') : r.error_code, r.url.replace(__ENV.BASE, ''));
  }
}
