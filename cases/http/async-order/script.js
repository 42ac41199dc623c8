import http from 'k6/http';
export default function () {
  http.asyncRequest('GET', `${__ENV.BASE}/delay/60`).then((r) => console.log('slow', r.status));
  http.asyncRequest('GET', `${__ENV.BASE}/delay/1`).then((r) => { console.log('fast', r.status); return http.asyncRequest('GET', `${__ENV.BASE}/get`); }).then((r) => console.log('after', r.status));
  console.log('end of the function');
}
