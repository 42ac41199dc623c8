import http from 'k6/http';
export const options = { tags: { name: 'from options' } };
export default function () {
  http.get(`${__ENV.BASE}/item/1`);
  http.get(`${__ENV.BASE}/item/2`, { tags: { name: 'from params' } });
  http.get(http.url`${__ENV.BASE}/item/${3}`);
  http.get(http.url`${__ENV.BASE}/item/${4}`, { tags: { name: 'both' } });
  http.get(`${__ENV.BASE}/item/5`, { tags: { name: '' } });
}
