import { WebSocket } from 'k6/websockets';
import http from 'k6/http';
function cookies(params) {
  return new Promise((done) => {
    const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/headers`, null, params);
    ws.onmessage = (e) => { console.log(JSON.stringify(JSON.parse(e.data).cookie)); ws.close(); };
    ws.onclose = done;
  });
}
export default async function () {
  http.cookieJar().set(__ENV.BASE, 'default', '1');
  await cookies();
  const jar = new http.CookieJar();
  await cookies({ jar });
  jar.set(__ENV.BASE, 'own', '2');
  await cookies({ jar });
}
