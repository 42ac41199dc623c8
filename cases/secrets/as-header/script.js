import secrets from 'k6/secrets';
import http from 'k6/http';
export default async function () {
  const token = await secrets.get('token');
  const r = http.get(`${__ENV.BASE}/get`, { headers: { Authorization: `Bearer ${token}` } });
  console.log(r.status, r.json('headers.authorization').length, r.body.includes(token), r.json('headers.authorization'));
}
