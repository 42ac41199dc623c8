import http from 'k6/http';
import { check } from 'k6';
const api = {
  create: (body) => http.post(`${__ENV.BASE}/echo/items`, JSON.stringify(body), { headers: { 'Content-Type': 'application/json' } }),
  read: (id) => http.get(http.url`${__ENV.BASE}/echo/items/${id}`),
  update: (id, body) => http.patch(http.url`${__ENV.BASE}/echo/items/${id}`, JSON.stringify(body)),
  remove: (id) => http.del(http.url`${__ENV.BASE}/echo/items/${id}`, null, { tags: { kind: 'removal' } }),
};
export default function () {
  const steps = [api.create({ name: 'x' }), api.read(7), api.update(7, { name: 'y' }), api.remove(7)];
  for (const r of steps) {
    console.log(r.json('method'), r.json('path'), JSON.stringify(r.json('body')));
    check(r, { 'is fine': ({ status }) => status === 200 });
  }
}
