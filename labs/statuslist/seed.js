// Sets 1200 statuses, each at a different index, of the list that is fetched: a list of
// zeros would compress to almost nothing.
import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';
import { Counter } from 'k6/metrics';

const base = __ENV.BASE_URL || 'http://127.0.0.1:8090';
const key = __ENV.API_KEY || 'plimsoll';
const SET = 1200;
const SIZE = 50000;
const set = new Counter('set');

export const options = {
  scenarios: {
    set: { executor: 'shared-iterations', vus: 10, iterations: SET, maxDuration: '10m' },
  },
  thresholds: {
    checks: ['rate==1'],
    set: [`count==${SET}`],
  },
};

export function setup() {
  const list = __ENV.LIST || http.get(`${base}/aggregation/tests`).json('status_lists.0');
  // A generator of full period (Hull and Dobell): no index occurs twice.
  const indices = [];
  for (let n = 0, index = 1; n < SET; n++) {
    indices.push(index);
    index = (index * 4021 + 12347) % SIZE;
  }
  return { list, indices };
}

export default function ({ list, indices }) {
  const index = indices[exec.scenario.iterationInTest];
  const answer = http.patch(
    `${base}/status-lists/update`,
    JSON.stringify({ uri: list, index, value: 1 }),
    { headers: { 'Content-Type': 'application/json', 'X-Api-Key': key } },
  );
  if (check(answer, { 'the status is set': (r) => r.status === 204 })) {
    set.add(1);
  }
}

export function teardown({ list }) {
  const answer = http.get(list);
  check(answer, { 'the list is a token': (r) => r.status === 200 && r.body.split('.').length === 3 });
  console.log(JSON.stringify({ bytes: answer.body.length }));
}
