import ws from 'k6/ws';
import http from 'k6/http';
const W = __ENV.BASE.replace('http', 'ws');
function headers(name, params) {
  ws.connect(`${W}/ws/headers`, params, (s) => s.on('message', (m) => { console.log(name, m); s.close(); }));
}
export default function () {
  headers('plain', {});
  headers('own', { headers: { 'X-A': 1, 'x-lower': 'b', 'Sec-WebSocket-Protocol': 'a, b' } });
  headers('deflate', { compression: 'deflate' });
  http.cookieJar().set(__ENV.BASE, 'k', 'v');
  headers('jar', {});
  const own = new http.CookieJar();
  own.set(__ENV.BASE, 'own', 'w');
  headers('own jar', { jar: own });
  headers('cookie', { headers: { Cookie: 'a=b' } });
  ws.connect(`${W}/ws/set-cookie`, {}, (s) => s.on('open', () => s.close()));
  headers('set', {});
  console.log(JSON.stringify(http.cookieJar().cookiesForURL(__ENV.BASE)));
}
