import http from 'k6/http';
export default function () {
  const url = `${__ENV.BASE}/echo`;
  for (const body of ['text', null, undefined, { b: 2, a: 1, list: [1, 'two'], sp: 'a b&c=d', uni: 'ü' }, new Uint8Array([104, 105]).buffer]) {
    const r = http.post(url, body);
    const seen = JSON.parse(r.body);
    console.log(JSON.stringify(seen.headers), seen.body, JSON.stringify(r.request.body));
  }
  console.log(http.post(url, '').json('body'), http.post(url, {}).json('headers.content-type'));
  for (const bad of [12, true]) console.log(http.post(url, bad).status);
}
