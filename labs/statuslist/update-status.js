// Sets statuses. With SPREAD=0 all users set the same one, so that they wait for each
// other in the store; with SPREAD=1 each request sets a random one of the list.
import http from 'k6/http';
import { check } from 'k6';

const base = __ENV.BASE_URL || 'http://127.0.0.1:8090';
const spread = __ENV.SPREAD === '1';
const SIZE = 50000;
const HOT = 4711;
const params = {
  headers: { 'Content-Type': 'application/json', 'X-Api-Key': __ENV.API_KEY || 'plimsoll' },
};

export const options = {
  vus: Number(__ENV.USERS || 10),
  duration: __ENV.DURATION || '30s',
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
  },
};

export function setup() {
  return __ENV.LIST || http.get(`${base}/aggregation/tests-fail`).json('status_lists.0');
}

export default function (uri) {
  const index = spread ? Math.floor(Math.random() * SIZE) : HOT;
  const value = Math.random() < 0.5 ? 0 : 1;
  const answer = http.patch(`${base}/status-lists/update`, JSON.stringify({ uri, index, value }), params);
  check(answer, { 'the status is set': (r) => r.status === 204 });
}
