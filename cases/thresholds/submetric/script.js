import http from 'k6/http';
export const options = { thresholds: {
  'http_reqs{kind:a}': ['count==1'],
  'http_reqs{kind:b}': ['count==2'],
  'http_reqs{kind:none}': ['count==0'],
  'http_req_failed{status:404}': ['rate==1'],
  'http_reqs{kind:b,method:GET}': ['count==2'],
} };
export default function () {
  http.get(`${__ENV.BASE}/get`, { tags: { kind: 'a' } });
  http.get(`${__ENV.BASE}/get`, { tags: { kind: 'b' } });
  http.get(`${__ENV.BASE}/status/404`, { tags: { kind: 'b' } });
}
