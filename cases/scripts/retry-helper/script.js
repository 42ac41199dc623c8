import http from 'k6/http';
import { sleep } from 'k6';
import { Rate } from 'k6/metrics';
const retried = new Rate('retried');
function withRetries(times, make) {
  for (let attempt = 1; ; attempt++) {
    const r = make(attempt);
    retried.add(attempt > 1);
    if (r.status < 500 || attempt === times) return [r, attempt];
    sleep(0.005 * attempt);
  }
}
export default function () {
  const [r, attempts] = withRetries(4, (n) => http.get(`${__ENV.BASE}/status/${n < 3 ? 503 : 200}`));
  console.log(r.status, attempts);
  console.log(withRetries(2, () => http.get(`${__ENV.BASE}/status/500`))[1]);
}
