// Fetches one list, as a verifier does to find out whether a credential is still valid.
import http from 'k6/http';
import encoding from 'k6/encoding';
import { check, fail } from 'k6';

const base = __ENV.BASE_URL || 'http://127.0.0.1:8090';
const params = { headers: { Accept: 'application/statuslist+jwt' } };

export const options = {
  vus: Number(__ENV.USERS || 100),
  duration: __ENV.DURATION || '30s',
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
  },
};

// The token is read once. Nothing changes the list meanwhile, so each response must be the same.
export function setup() {
  const list = __ENV.LIST || http.get(`${base}/aggregation/tests`).json('status_lists.0');
  const token = http.get(list, params).body;
  const [head, payload] = token.split('.').map((part, n) =>
    n < 2 ? JSON.parse(encoding.b64decode(part, 'rawurl', 's')) : part,
  );
  if (head.typ !== 'statuslist+jwt' || head.alg !== 'ES256' || payload.sub !== list) {
    fail(`this is no token of ${list}: ${JSON.stringify(head)} ${JSON.stringify(payload)}`);
  }
  return { list, token };
}

export default function ({ list, token }) {
  const answer = http.get(list, params);
  check(answer, { 'the list came': (r) => r.status === 200 && r.body === token });
}
