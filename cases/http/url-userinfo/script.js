import http from 'k6/http';
export default function () {
  const base = __ENV.BASE.replace('http://', '');
  const r = http.get(`http://me:pass@${base}/basic/me/pass`);
  console.log(r.status, r.url.replace(base, 'host'), r.request.url.replace(base, 'host'), JSON.stringify(r.request.headers.Authorization));
  console.log(http.get(`http://me:wrong@${base}/basic/me/pass`).status, http.get(`http://me@${base}/get`).json('headers.authorization'), http.get(`http://%C3%BC:p%40ss@${base}/get`).json('headers.authorization'));
}
