import http from 'k6/http';
const page = '<html><body><form action="/echo/login" method="post"><input type="hidden" name="csrf" value="tok123"><input name="user"><input type="password" name="pass"></form></body></html>';
export default function () {
  const res = http.post(`${__ENV.BASE}/back`, page, { headers: { 'Content-Type': 'text/html' } });
  const token = res.html().find('input[name=csrf]').first().attr('value');
  console.log(token, http.post(`${__ENV.BASE}/echo`, { csrf: token, user: 'ada' }).json('body'));
  console.log(res.submitForm({ fields: { user: 'ada', pass: 'pw' } }).json('body'));
}
