import http from 'k6/http';
export default function () {
  const url = `${__ENV.BASE}/echo`;
  const all = http.batch([url, [ 'GET', url ], ['POST', url, 'text'], ['PUT', url, { a: 1 }, { headers: { 'X-A': '1' } }], { method: 'POST', url, body: 'object' }, { url }, { method: 'del', url }, ['post', url, null], http.url`${url}`, ['GET', url, null, { tags: { name: 'tagged' } }]]);
  for (const r of all) console.log(r.json('method'), JSON.stringify(r.json('body')), r.json('headers.x-a'));
}
