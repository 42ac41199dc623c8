import http from 'k6/http';
export default function () {
  for (const path of ['/status/302', '/status/302?location=', '/status/302?location=%zz', '/status/302?location=http://127.0.0.1:1/', '/status/302?location=/get#f', '/status/302?location=?x=1', '/status/300?location=/get', '/status/304?location=/get', '/status/201?location=/get', '/status/302?location=ftp://x/', '/status/305?location=/get']) {
    const r = http.get(`${__ENV.BASE}${path}`);
    console.log(path, r.status, r.error_code, r.url.replace(__ENV.BASE, ''));
  }
}
