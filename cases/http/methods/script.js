import http from 'k6/http';
export default function () {
  const url = `${__ENV.BASE}/echo?q=1`;
  for (const r of [http.get(url), http.post(url, 'text'), http.put(url, 'text'), http.patch(url, 'text'), http.del(url), http.del(url, 'body'), http.options(url), http.head(url), http.request('GET', url), http.request('POST', url, 'x'), http.request('purge', url)]) {
    console.log(r.request.method, r.status, r.body);
  }
}
