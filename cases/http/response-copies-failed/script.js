import http from 'k6/http';
const attempt = (what, body) => {
  try { console.log(what, String(body())); } catch (error) { console.log(what, 'threw', typeof error); }
};
export default function () {
  const { json, html, error_code, ...rest } = http.get('http://127.0.0.1:1/');
  attempt('json', () => json());
  attempt('html', () => html());
  console.log(error_code, rest.status, Object.keys(rest).join());
}
