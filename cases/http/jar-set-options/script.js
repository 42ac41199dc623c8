import http from 'k6/http';
export default function () {
  for (const options of [undefined, null, {}, { domain: '127.0.0.1' }, { domain: 'other.example' }, { path: '/cookies' }, { path: '/else' }, { expires: 'Wed, 21 Oct 2065 07:28:00 GMT' }, { expires: 'never' }, { expires: 5 }, { max_age: 100 }, { max_age: -5 }, { max_age: 'x' }, { secure: true }, { http_only: true }, { unknown: 1 }, 5]) {
    const jar = new http.CookieJar();
    try { console.log(JSON.stringify(options), jar.set(`${__ENV.BASE}/cookies`, 'c', 'v', options), http.get(`${__ENV.BASE}/cookies`, { jar }).body); } catch (e) { console.log(JSON.stringify(options), 'threw', e.name); }
  }
}
