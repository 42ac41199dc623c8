// Writes the tuples through the service's own API, then lists and counts them.
import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';
import { Counter } from 'k6/metrics';
import { COUNT, tuplesOf } from './data.js';

const service = `${__ENV.BASE_URL || 'http://127.0.0.1:4000'}/zanzigo.v1.ZanzigoService`;
const json = { headers: { 'Content-Type': 'application/json' } };
const written = new Counter('written');

export const options = {
  scenarios: {
    write: { executor: 'shared-iterations', vus: 32, iterations: COUNT, maxDuration: '10m' },
  },
  thresholds: {
    checks: ['rate==1'],
    written: [`count==${3 * COUNT}`],
  },
};

export default function () {
  for (const tuple of tuplesOf(exec.scenario.iterationInTest)) {
    const answer = http.post(`${service}/Write`, JSON.stringify({ tuple }), json);
    if (check(answer, { 'the tuple is written': (r) => r.status === 200 && r.body === '{}' })) {
      written.add(1);
    }
  }
}

export function teardown() {
  let listed = 0;
  let cursor = '';
  do {
    const page = http.post(
      `${service}/List`,
      JSON.stringify({ filter: {}, pagination: { limit: 1000, cursor } }),
      json,
    ).json();
    listed += (page.tuples || []).length;
    cursor = page.cursor;
  } while (cursor);
  console.log(JSON.stringify({ listed }));
}
