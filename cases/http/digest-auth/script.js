import http from 'k6/http';
export default function () {
  const at = __ENV.BASE.replace('http://', 'http://user:pass@');
  console.log(http.get(`${at}/digest/user/pass`, { auth: 'digest' }).status);
  console.log(http.get(`${at.replace(':pass', ':word')}/digest/user/pass`, { auth: 'digest' }).status);
}
