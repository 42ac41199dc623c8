import { check } from 'k6';
export default function () {
  for (const value of [undefined, null, 0, '', [], {}, Promise.resolve(1), () => 1]) console.log(String(typeof value), check(value, { 'is there': (v) => v !== undefined && v !== null, constant: 1 }));
  for (const sets of [undefined, null, {}, [], 'text', 5, [() => true], new Map([['a', true]])]) {
    try { console.log(JSON.stringify(sets), check(1, sets)); } catch (e) { console.log(JSON.stringify(sets), 'threw', e.name); }
  }
}
