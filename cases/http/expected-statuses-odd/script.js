import http from 'k6/http';
export default function () {
  for (const values of [[], [null], [undefined], ['404'], [404.5], [{}], [{ min: 1 }], [{ max: 1 }], [{ min: 'a', max: 'b' }], [[200]], [{ min: 200, max: 299, more: 1 }], [-1], [0], [1000000], [NaN]]) {
    try { http.expectedStatuses(...values); console.log(JSON.stringify(values), 'made'); } catch (e) { console.log(JSON.stringify(values), 'threw', e.name); }
  }
}
