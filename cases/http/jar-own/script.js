import http from 'k6/http';
export default function () {
  const jar = new http.CookieJar();
  http.get(`${__ENV.BASE}/set-cookie?own=1`, { jar });
  http.get(`${__ENV.BASE}/set-cookie?users=2`);
  console.log(http.get(`${__ENV.BASE}/cookies`, { jar }).body, http.get(`${__ENV.BASE}/cookies`).body, JSON.stringify(jar.cookiesForURL(__ENV.BASE)), JSON.stringify(http.cookieJar().cookiesForURL(__ENV.BASE)));
  console.log(http.cookieJar() === http.cookieJar(), Object.keys(jar).join(), typeof jar.set);
}
