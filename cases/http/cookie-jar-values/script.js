import http from 'k6/http';
export default function () {
  const url = `${__ENV.BASE}/cookies`;
  const jar = http.cookieJar();
  jar.set(url, 'number', 5);
  jar.set(url, 'null', null);
  jar.set(url, 'undefined', undefined);
  jar.set(url, 'ageless', 'x', { max_age: 0 });
  jar.set(url, 'dead', 'x', { max_age: -1 });
  jar.set(url, 'elsewhere', 'x', { path: '/other' });
  jar.set(url, 'foreign', 'x', { domain: 'example.com' });
  jar.set(url, 'late', 'x', { expires: 'Mon, 02 Jan 2006 15:04:05 GMT' });
  const found = jar.cookiesForURL(url);
  for (const name of Object.keys(found).sort()) console.log(name, JSON.stringify(found[name]));
  jar.delete(url, 'number');
  console.log(Object.keys(jar.cookiesForURL(url)).length);
  jar.clear(url);
  console.log(Object.keys(jar.cookiesForURL(url)).length);
}
