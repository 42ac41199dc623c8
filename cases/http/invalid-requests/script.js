import http from 'k6/http';
export default function () {
  const url = `${__ENV.BASE}/get`;
  const show = (r) => console.log(r.status, r.error_code, r.error, r.url, r.body);
  show(http.get(url, { headers: { 'bad name': 'x' } }));
  show(http.get(url, { headers: { a: 'x\ny' } }));
  show(http.request('BAD METHOD', url));
  show(http.get('http://'));
  show(http.get(''));
  for (const answer of http.batch([['bad method', url]])) show(answer);
  for (const batch of [[['GET']], [[url]], [[]]]) for (const r of http.batch(batch)) console.log(r.status, r.error_code, r.error);
  const refused = http.get(null);
  console.log(refused.status, refused.error_code, refused.error, refused.url === '', refused.request);
}
