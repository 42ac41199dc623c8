import http from 'k6/http';
export default function () {
  const url = `${__ENV.BASE}/echo`;
  for (const name of ['del', 'options', 'put', 'patch']) {
    const r = http[name](url, { a: 1 }, { headers: { 'X-A': name } });
    console.log(name, r.json('method'), r.json('body'), r.json('headers.content-type'), r.json('headers.x-a'), r.json('headers.content-length'));
  }
  console.log(http.del(url).json('headers.content-length'), http.post(url).json('headers.content-length'), http.put(url, null).json('headers.content-length'));
}
