// Checks before any timing: the zone of each place that the load looks up, and the four
// kinds of rejection.
import http from 'k6/http';
import { check } from 'k6';

const url = `${__ENV.BASE_URL || 'http://127.0.0.1:8091'}/time_zone`;
const key = __ENV.API_KEY || 'plimsoll';
const places = JSON.parse(open('./places.json'));

export const options = {
  iterations: 1,
  thresholds: { checks: ['rate==1'] },
};

const refused = http.expectedStatuses(400, 401, 404);

export default function () {
  for (const { lat, lng, zone } of places) {
    const answer = http.get(`${url}?lat=${lat}&lng=${lng}&api_key=${key}`, { tags: { name: 'place' } });
    check(answer, {
      [`${lat}, ${lng} is in ${zone}`]: (r) => r.status === 200 && r.json('time_zone_id') === zone,
    });
  }
  const errors = [
    ['without a key', 'lat=48.8566&lng=2.3522', 401],
    ['without a longitude', `lat=48.8566&api_key=${key}`, 400],
    ['with an impossible latitude', `lat=91&lng=0&api_key=${key}`, 400],
    ['at sea', `lat=0&lng=-30&api_key=${key}`, 404],
  ];
  for (const [what, query, status] of errors) {
    const answer = http.get(`${url}?${query}`, { responseCallback: refused, tags: { name: what } });
    check(answer, {
      [`${what}: ${status}`]: (r) => r.status === status && typeof r.json('error') === 'string',
    });
  }
}
