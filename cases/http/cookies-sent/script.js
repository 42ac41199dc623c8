import http from 'k6/http';
export default function () {
  for (const cookies of [{ a: '1', b: '2' }, { a: 5 }, { a: true }, { a: null }, { a: '' }, { a: 'sp ace' }, { a: 'com,ma' }, { 'b a': '1' }, { a: { value: 'x' } }, { a: { value: 'x', replace: false } }, { a: ['x'] }, {}]) {
    try { console.log(JSON.stringify(cookies), JSON.stringify(http.get(`${__ENV.BASE}/get`, { cookies }).json('headers.cookie'))); } catch (e) { console.log(JSON.stringify(cookies), 'threw', e.name); }
  }
}
