import http from 'k6/http';
import { check } from 'k6';
export const options = { iterations: 2 };
export function setup() {
  const res = http.get(`${__ENV.BASE}/json`);
  return { id: res.json('id'), tags: res.json('tags'), at: { deep: [1, { x: 'y' }] } };
}
export default function (data) {
  check(data, { 'has the id': (d) => d.id === 7, 'has tags': (d) => d.tags.length === 3 });
  data.changed = __ITER;
  console.log(JSON.stringify(data));
}
export function teardown(data) { console.log('teardown', JSON.stringify(data)); http.del(`${__ENV.BASE}/echo/${data.id}`); }
