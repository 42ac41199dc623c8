// Looks up the places in turn and checks each zone. The search for the highest rate runs it
// at each rate.
import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';

const url = `${__ENV.BASE_URL || 'http://127.0.0.1:8091'}/time_zone`;
const key = __ENV.API_KEY || 'plimsoll';
const places = JSON.parse(open('./places.json'));

export const options = {
  scenarios: {
    lookups: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE || 200),
      timeUnit: '1s',
      duration: __ENV.DURATION || '30s',
      preAllocatedVUs: 50,
      maxVUs: Number(__ENV.CONNECTIONS || 1000),
    },
  },
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
  },
};

export default function () {
  const { lat, lng, zone } = places[exec.scenario.iterationInTest % places.length];
  const answer = http.get(`${url}?lat=${lat}&lng=${lng}&api_key=${key}`, { tags: { name: 'place' } });
  check(answer, { 'it is the right zone': (r) => r.status === 200 && r.json('time_zone_id') === zone });
}
