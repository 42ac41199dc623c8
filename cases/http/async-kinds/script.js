import http from 'k6/http';
export default async function () {
  const url = `${__ENV.BASE}/echo`;
  const promise = http.asyncRequest('POST', url, 'body', { headers: { 'X-A': '1' }, tags: { t: '1' } });
  console.log(promise instanceof Promise);
  const r = await promise;
  console.log(r.status, r.json('method'), r.json('body'), r.json('headers.x-a'));
  const all = await Promise.all([http.asyncRequest('GET', url + '?1'), http.asyncRequest('GET', url + '?2'), http.asyncRequest('GET', 'http://127.0.0.1:1/')]);
  console.log(all.map((each) => (each.status ? each.json('query') : each.error_code)).join());
}
