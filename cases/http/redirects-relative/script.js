import http from 'k6/http';
export default function () {
  for (const url of ['get', '/get', '../get', '?x=1', '//[bad', 'ftp://nowhere/', 'http://127.0.0.1:1/']) {
    const r = http.get(`${__ENV.BASE}/redirect-to?url=${url}`, { redirects: 1 });
    console.log(url, r.status, r.error_code, r.url.replace(__ENV.BASE, ''));
  }
  console.log(http.get(`${__ENV.BASE}/status/302`).status);
}
