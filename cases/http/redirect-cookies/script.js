import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/redirect-to?url=/set-cookie?a=1`);
  console.log(r.body, JSON.stringify(r.cookies.a.map((c) => c.value)), JSON.stringify(http.cookieJar().cookiesForURL(__ENV.BASE)));
  const kept = http.get(`${__ENV.BASE}/redirect-to?url=/cookies`, { cookies: { b: '2' } });
  console.log(kept.body, JSON.stringify(kept.request.cookies.b));
}
