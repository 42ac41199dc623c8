import http from 'k6/http';
export default function () {
  for (const form of [{ a: { b: 1 } }, { a: [[1, 2]] }, { a: [{ b: 1 }] }, { a: null, b: undefined }, { a: [null, undefined, ''] }, { a: () => 1 }, { a: new Date(0) }, { a: NaN }, { '': 'x' }, { 'a[b]': 'c' }, Object.create({ inherited: 1 })]) {
    try { console.log(JSON.stringify(form), JSON.stringify(http.post(`${__ENV.BASE}/echo`, form).json('body'))); } catch (e) { console.log(JSON.stringify(form), 'threw', e.name); }
  }
}
