import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  insecureSkipTLSVerify: true,
  summaryTrendStats: (__ENV.STATS || 'avg,min,med,max,p(90),p(95)').split(','),
};
export default function () {
  const answer = http.get(__ENV.URL, { timeout: __ENV.TIMEOUT || '60s' });
  if (__ENV.CHECK === 'status') check(answer, { 'is status 200': (a) => a.status === 200 });
  if (__ENV.CHECK === 'any') check(answer, { 'answered': (a) => a.status >= 0 });
  if (__ENV.CHECK === 'body') check(answer, { 'body begins with answer:': (a) => a.body && a.body.startsWith('answer:') });
  if (__ENV.SECOND) http.get(__ENV.SECOND);
  if (__ENV.SLEEP) sleep(Number(__ENV.SLEEP));
}
