import http from 'k6/http';
const query = (object) => Object.entries(object).map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v)}`).join('&');
export default function () {
  const r = http.get(`${__ENV.BASE}/get?${query({ q: 'a b&c', lang: 'ü', n: 5, empty: '' })}`);
  console.log(r.json('query'), decodeURIComponent(r.json('query')));
  const [, scheme, host, path] = /^(\w+):\/\/([^/]+)([^?]*)/.exec(r.url);
  console.log(scheme, host === __ENV.BASE.slice(7), path, typeof URL, typeof URLSearchParams);
  console.log(escape('ü a'), unescape('%FC'), encodeURI('ü a?b'), decodeURI('%C3%BC'));
}
