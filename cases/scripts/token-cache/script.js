import http from 'k6/http';
export const options = { iterations: 4 };
let token = null, uses = 0;
function bearer() {
  if (token === null || uses >= 2) { token = http.post(`${__ENV.BASE}/echo/token`, { grant_type: 'client_credentials' }).json('body') + '#' + __ITER; uses = 0; }
  uses += 1;
  return token;
}
export default function () { console.log(http.get(`${__ENV.BASE}/get`, { headers: { Authorization: bearer() } }).json('headers.authorization')); }
