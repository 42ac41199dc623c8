import http from 'k6/http';
export default function () {
  http.get(`${__ENV.BASE}/redirect/2`);
  http.get(`${__ENV.BASE}/redirect/1`, { tags: { name: 'named' } });
  http.get(`${__ENV.BASE}/redirect-to?url=/status/404`);
}
