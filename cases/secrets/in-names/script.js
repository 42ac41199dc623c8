import secrets from 'k6/secrets';
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
const mine = new Counter('mine');
export default async function () {
  const value = await secrets.get('a');
  http.get(`${__ENV.BASE}/get?token=${value}`);
  http.get(`${__ENV.BASE}/get`, { tags: { name: `named ${value}`, own: value } });
  group(`group ${value}`, () => check(value, { [`is ${value}`]: (v) => v === 'topsecret' }));
  mine.add(1, { own: value });
}
