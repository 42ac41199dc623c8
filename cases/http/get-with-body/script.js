import http from 'k6/http';
export default function () {
  const url = `${__ENV.BASE}/echo`;
  console.log(http.get(url, {}, 'body').json('body') === '', http.head(url, {}, {}).status);
  const r = http.request('GET', url, 'with body');
  console.log(r.json('method'), JSON.stringify(r.json('body')), JSON.stringify(r.request.body));
}
