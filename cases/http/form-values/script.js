import http from 'k6/http';
function attempt(name, body) {
  try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); }
}

export default function () {
  const sent = (body, params) => http.post(`${__ENV.BASE}/echo`, body, params).request.body;
  for (const body of [{ a: [1, 2] }, { a: [] }, { a: true, b: false }, { a: 1.5, b: 1e21 }, { 'a b': 'c&d=e' }, { a: '\u00e9\u20ac' }, {}, { z: 1, a: 2 }, { a: '' }]) {
    attempt(JSON.stringify(body), () => sent(body));
  }
  for (const body of ['text', '', null, undefined, 5, true, [1, 2], []]) attempt(JSON.stringify(body) + '', () => sent(body));
}
