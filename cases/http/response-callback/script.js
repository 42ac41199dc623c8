import http from 'k6/http';
export const options = { thresholds: { http_req_failed: ['rate<0.5'] } };
http.setResponseCallback(http.expectedStatuses(404, { min: 500, max: 503 }));
export default function () {
  const B = __ENV.BASE;
  http.get(`${B}/status/404`); http.get(`${B}/status/502`); http.get(`${B}/status/200`);
  http.get(`${B}/status/200`, { responseCallback: http.expectedStatuses(200) });
  http.get(`${B}/status/201`, { responseCallback: null });
}
