import http from 'k6/http';
import { check, group, fail } from 'k6';
export default function () {
  let token;
  group('login', () => {
    const payload = JSON.stringify({ username: 'ada', password: 'secret' });
    const res = http.post(`${__ENV.BASE}/back`, payload, { headers: { 'Content-Type': 'application/json' }, tags: { name: 'Login' } });
    if (!check(res, { 'logged in': (r) => r.status === 200 })) fail('no login');
    token = res.json('password');
  });
  group('account', () => {
    const params = { headers: { Authorization: `Bearer ${token}` } };
    const responses = http.batch([['GET', `${__ENV.BASE}/get/profile`, null, params], ['GET', `${__ENV.BASE}/get/orders`, null, params]]);
    responses.forEach((r, i) => check(r, { [`request ${i} has the token`]: (x) => x.json('headers.authorization') === 'Bearer secret' }));
  });
}
