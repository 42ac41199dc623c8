export const options = { scenarios: { r: {
  executor: 'ramping-vus', startVUs: 2, stages: [{ duration: '500ms', target: 2 }, { duration: '0s', target: 0 }], gracefulRampDown: '500ms', gracefulStop: '20s',
} } };
import http from 'k6/http';
export default function () { http.get(`${__ENV.BASE}/delay/8000`); }
