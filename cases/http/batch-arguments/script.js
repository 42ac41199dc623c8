import http from 'k6/http';
export default function () {
  for (const values of [[], [null], [undefined], [5], ['text'], [true], [[]], [{}], [[[]]], [new Map()], [[`${__ENV.BASE}/get`], 'more']]) {
    try { const r = http.batch(...values); console.log(values.length, Array.isArray(r), Object.keys(r).length); } catch (e) { console.log(values.length, 'threw', e.name); }
  }
}
