import http from 'k6/http';
export default function () {
  const jar = http.cookieJar();
  const url = `${__ENV.BASE}/cookies`;
  console.log(jar.set(url, 'a', '1'), jar.set(`${__ENV.BASE}/item/x`, 'b', '2', { path: '/item', max_age: 600 }), JSON.stringify(jar.cookiesForURL(url)));
  console.log(http.get(url).body, JSON.stringify(jar.cookiesForURL(`${__ENV.BASE}/item/y`)));
  jar.set(url, 'gone', 'x'); jar.delete(url, 'gone');
  console.log(JSON.stringify(jar.cookiesForURL(url)));
  jar.clear(url);
  console.log(JSON.stringify(jar.cookiesForURL(url)), http.get(url).body);
  const own = new http.CookieJar();
  own.set(url, 'own', 'jar');
  console.log(http.get(url, { jar: own }).body, http.get(url).body, JSON.stringify(own.cookiesForURL(url)));
  jar.set(url, 'expired', 'x', { expires: 'Mon, 02 Jan 2006 15:04:05 GMT' });
  console.log(JSON.stringify(jar.cookiesForURL(url)));
}
