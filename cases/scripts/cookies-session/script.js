import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  console.log(__ITER, http.get(`${__ENV.BASE}/cookies`).body);
  http.get(`${__ENV.BASE}/set-cookie?session=${__ITER + 1}`);
  console.log(__ITER, http.get(`${__ENV.BASE}/cookies`).body);
  const jar = http.cookieJar();
  jar.set(__ENV.BASE, 'own', 'x', { path: '/' });
  console.log(JSON.stringify(Object.keys(jar.cookiesForURL(__ENV.BASE)).sort()));
}
