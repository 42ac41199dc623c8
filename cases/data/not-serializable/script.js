import { SharedArray } from 'k6/data';
for (const [name, make] of [['cycle', () => { const a = {}; a.self = a; return [a]; }], ['big', () => [10n]], ['throws', () => [{ toJSON() { throw new RangeError('no'); } }]], ['symbol', () => [Symbol('s')]], ['sparse', () => [1, , 3]]]) {
  try { const rows = new SharedArray(name, make); if (__VU === 0) console.log(name, rows.length, JSON.stringify(rows)); } catch (e) { if (__VU === 0) console.log(name, 'threw', e.name); }
}
export default function () {}
