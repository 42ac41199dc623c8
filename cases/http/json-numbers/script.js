import http from 'k6/http';
export default function () {
  const r = http.post(`${__ENV.BASE}/back`, '{"a":12345678901234567890,"b":1.10,"c":-0,"d":1E5,"e":0.1e-6,"f":123456789012,"g":1.0}');
  for (const key of 'abcdefg') console.log(key, r.json(key), r.json()[key], Object.is(r.json(key), r.json()[key]));
}
