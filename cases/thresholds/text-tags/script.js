import http from 'k6/http';
export const options = { thresholds: { 'http_reqs{name:GET /item/:id}': ['count==1'], 'http_reqs{name:a b}': ['count==1'], 'http_reqs{group:::g}': ['count==0'] } };
export default function () {
  http.get(`${__ENV.BASE}/get`, { tags: { name: 'GET /item/:id' } });
  http.get(`${__ENV.BASE}/get`, { tags: { name: 'a b' } });
}
