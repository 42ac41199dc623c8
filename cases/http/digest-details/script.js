import http from 'k6/http';
export default function () {
  const host = __ENV.BASE.slice(7);
  const good = http.get(`http://me:secret@${host}/digest/me/secret`, { auth: 'digest' });
  console.log(good.status, good.body);
  const bad = http.get(`http://me:wrong@${host}/digest/me/secret`, { auth: 'digest' });
  console.log(bad.status, JSON.stringify(bad.body));
  const posted = http.post(`http://me:secret@${host}/digest/me/secret`, 'body', { auth: 'digest' });
  console.log(posted.status, posted.request.method);
  console.log(http.get(`${__ENV.BASE}/get`, { auth: 'digest' }).status, http.get(`${__ENV.BASE}/status/401`, { auth: 'digest' }).status);
}
