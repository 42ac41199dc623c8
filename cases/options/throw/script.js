import http from 'k6/http';
export const options = { throw: true };
export default function () {
  try { http.get('http://127.0.0.1:1/'); } catch (e) { console.log(String(e.message || e)); }
  http.get('http://127.0.0.1:1/again');
  console.log('never');
}
