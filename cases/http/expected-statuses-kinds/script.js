import http from 'k6/http';
export default function () {
  const make = [() => http.expectedStatuses(404), () => http.expectedStatuses(200, 404, 500), () => http.expectedStatuses({ min: 400, max: 499 }), () => http.expectedStatuses(201, { min: 404, max: 404 }), () => http.expectedStatuses({ min: 500, max: 400 })];
  for (const each of make) {
    for (const code of [200, 404, 500]) http.get(`${__ENV.BASE}/status/${code}`, { responseCallback: each(), tags: { name: String(make.indexOf(each)) } });
  }
  http.get(`${__ENV.BASE}/status/500`, { responseCallback: null, tags: { name: 'null' } });
}
