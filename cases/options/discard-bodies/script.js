import http from 'k6/http';
export const options = { discardResponseBodies: true };
export default function () {
  const url = `${__ENV.BASE}/json`;
  console.log(http.get(url).body, http.get(url, { responseType: 'text' }).body.length, http.get(url, { responseType: 'none' }).body);
}
