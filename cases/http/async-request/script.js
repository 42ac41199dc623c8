import http from 'k6/http';
export default async function () {
  const B = __ENV.BASE;
  const r = await http.asyncRequest('POST', `${B}/echo`, 'async');
  console.log(r.status, r.json('body'));
  const order = [];
  await Promise.all([http.asyncRequest('GET', `${B}/delay/80`).then(() => order.push('slow')), http.asyncRequest('GET', `${B}/delay/5`).then(() => order.push('fast'))]);
  console.log(order.join());
  try { await http.asyncRequest('GET', 'http://127.0.0.1:1/', null, { throw: true }); } catch (e) { console.log('rejected', String(e.message || e)); }
  console.log((await http.asyncRequest('GET', 'http://127.0.0.1:1/')).error_code);
}
