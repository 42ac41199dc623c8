import http from 'k6/http';
function attempt(name, body) { try { console.log(name, JSON.stringify(body())); } catch (e) { console.log(name, 'threw', e.name); } }
export default function () {
  const jar = new http.CookieJar();
  attempt('set nothing', () => jar.set());
  attempt('set url', () => jar.set(__ENV.BASE));
  attempt('set name', () => jar.set(__ENV.BASE, 'a'));
  attempt('set number', () => jar.set(__ENV.BASE, 5, 5));
  attempt('bad url', () => jar.set(':', 'a', 'b'));
  attempt('empty url', () => jar.set('', 'a', 'b'));
  attempt('cookies', () => jar.cookiesForURL(__ENV.BASE));
  attempt('cookies of nothing', () => jar.cookiesForURL());
  attempt('cookies of other', () => jar.cookiesForURL('http://other.example/'));
  attempt('clear', () => [jar.clear(__ENV.BASE), jar.cookiesForURL(__ENV.BASE)]);
  attempt('clear nothing', () => jar.clear());
  attempt('delete', () => jar.delete(__ENV.BASE, 'none'));
  attempt('delete nothing', () => jar.delete());
}
