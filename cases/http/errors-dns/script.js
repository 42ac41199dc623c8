import http from 'k6/http';
export default function () {
  const r = http.get('http://nowhere.invalid/');
  console.log(r.status, r.error_code, r.error);
}
