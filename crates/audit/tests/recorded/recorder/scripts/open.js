import http from 'k6/http';
import { check } from 'k6';

const rate = Number(__ENV.RATE || 200);
export const options = {
  insecureSkipTLSVerify: true,
  summaryTrendStats: (__ENV.STATS || 'avg,min,med,max,p(90),p(95)').split(','),
  scenarios: {
    open: {
      executor: 'constant-arrival-rate', rate, timeUnit: '1s',
      duration: __ENV.FOR || '8s', preAllocatedVUs: Number(__ENV.USERS || 40),
    },
  },
};
if (__ENV.LIMIT) options.thresholds = { http_req_duration: [`p(95)<${__ENV.LIMIT}`] };

export default function () {
  const answer = http.get(__ENV.URL);
  check(answer, { 'body begins with answer:': (a) => a.body && a.body.startsWith('answer:') });
}
