import http from 'k6/http';
export default function () {
  const result = http.batch({ first: `${__ENV.BASE}/get?1`, 'second key': ['GET', `${__ENV.BASE}/get?2`], 3: { method: 'GET', url: `${__ENV.BASE}/get?3` } });
  console.log(Array.isArray(result), Object.keys(result).sort().join(), result.first.json('query'), result['second key'].json('query'), result[3].json('query'));
}
