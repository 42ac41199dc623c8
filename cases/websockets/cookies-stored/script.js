import { WebSocket } from 'k6/websockets';
import http from 'k6/http';
export default function () {
  const jar = new http.CookieJar();
  const ws = new WebSocket(`${__ENV.BASE.replace('http', 'ws')}/ws/set-cookie`, null, { jar });
  ws.onopen = () => { console.log(JSON.stringify(jar.cookiesForURL(__ENV.BASE)), JSON.stringify(http.cookieJar().cookiesForURL(__ENV.BASE))); ws.close(); };
}
