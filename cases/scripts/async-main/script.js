import http from 'k6/http';
import { check } from 'k6';
const get = async (path) => { const r = await http.asyncRequest('GET', `${__ENV.BASE}${path}`); return r.json(); };
export async function setup() { return { first: (await get('/get/a')).path }; }
export default async function (data) {
  const [a, b] = await Promise.all([get('/get/1'), get('/get/2')]);
  check([a, b], { 'both came': ([x, y]) => x.path === '/get/1' && y.path === '/get/2' });
  for (const path of ['/get/3', '/get/4']) console.log((await get(path)).path, data.first);
}
export async function teardown(data) { console.log('teardown', data.first, (await get('/get/t')).path); }
