import http from 'k6/http';
export default function () {
  const jar = new http.CookieJar();
  jar.set('http://example.com/a/b', 'host', '1');
  jar.set('http://example.com/', 'domain', '2', { domain: 'example.com' });
  jar.set('http://sub.example.com/', 'sub', '3', { domain: '.example.com' });
  jar.set('https://example.com/', 'secure', '4', { secure: true });
  jar.set('http://example.com/', 'deep', '5', { path: '/a/b' });
  for (const url of ['http://example.com/', 'http://sub.example.com/', 'https://example.com/', 'http://example.com/a/b/c', 'http://example.com/a/bc', 'http://example.com:8080/', 'http://notexample.com/', 'http://EXAMPLE.com/']) {
    const found = jar.cookiesForURL(url);
    console.log(url, Object.keys(found).sort().map((name) => name + '=' + found[name]).join());
  }
}
