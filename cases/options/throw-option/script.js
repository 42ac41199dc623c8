import http from 'k6/http';
export const options = { throw: true };
export default function () {
  try { http.get('http://127.0.0.1:1/'); console.log('went on'); } catch (e) { console.log('threw', e.name); }
  try { console.log(http.get('http://127.0.0.1:1/', { throw: false }).error_code); } catch (e) { console.log('threw', e.name); }
}
