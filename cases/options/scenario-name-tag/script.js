import http from 'k6/http';
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 1, iterations: 1, tags: { name: 'all' } } } };
export default function () {
  http.get(`${__ENV.BASE}/get`);
  http.get(`${__ENV.BASE}/get`, { tags: { name: 'own' } });
  http.get(http.url`${__ENV.BASE}/get?q=${1}`);
}
