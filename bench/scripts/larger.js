// A typical script: a group, headers, a built URL, three checks, a parsed body.
import http from 'k6/http';
import { check, group } from 'k6';

export default function () {
  group('read one item', () => {
    const answer = http.get(`${__ENV.URL}items/${__ITER % 100}?user=${__VU}`, {
      headers: { Accept: 'application/json', 'X-Request-Id': `${__VU}-${__ITER}` },
      tags: { name: 'item' },
    });
    check(answer, {
      'status is 200': (r) => r.status === 200,
      'is json': (r) => r.headers['Content-Type'] === 'application/json',
      'has the id': (r) => r.json().id === 1,
    });
  });
}
