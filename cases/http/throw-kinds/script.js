import http from 'k6/http';
export default function () {
  for (const [name, make] of [['refused', () => http.get('http://127.0.0.1:1/', { throw: true })], ['status', () => http.get(`${__ENV.BASE}/status/500`, { throw: true })], ['url', () => http.get('http://[', { throw: true })], ['timeout', () => http.get(`${__ENV.BASE}/delay/300`, { throw: true, timeout: 30 })], ['batch', () => http.batch([['GET', 'http://127.0.0.1:1/', null, { throw: true }]])[0]], ['garbage', () => http.get(`${__ENV.RAW}/garbage`, { throw: true })]]) {
    try { console.log(name, make().status); } catch (e) { console.log(name, 'threw', e.name, typeof e.message, e instanceof Error); }
  }
}
