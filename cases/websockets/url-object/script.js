import { WebSocket } from 'k6/websockets';
import http from 'k6/http';
export default function () {
  for (const make of [() => http.url`${__ENV.BASE.replace('http', 'ws')}/ws/${'echo'}`, () => ({ toString: () => `${__ENV.BASE.replace('http', 'ws')}/ws/echo` }), () => [`${__ENV.BASE.replace('http', 'ws')}/ws/echo`]]) {
    try { const ws = new WebSocket(make()); ws.onopen = () => { console.log('open'); ws.close(); }; console.log('made'); } catch (e) { console.log('threw', e.name); }
  }
}
