import { SharedArray } from 'k6/data';
const rows = new SharedArray('rows', () => [{ n: 3 }, { n: 1 }, { n: 2 }]);
function attempt(name, body) { try { console.log(name, JSON.stringify(body())); } catch (e) { console.log(name, 'threw', e.name); } }
export default function () {
  attempt('filter', () => rows.filter((r) => r.n > 1));
  attempt('reduce', () => rows.reduce((sum, r) => sum + r.n, 0));
  attempt('some', () => [rows.some((r) => r.n === 2), rows.every((r) => r.n > 1)]);
  attempt('concat', () => rows.concat([1]).length);
  attempt('at', () => rows.at(-1));
  attempt('indexOf', () => rows.indexOf(rows[0]));
  attempt('includes', () => rows.includes(rows[0]));
  attempt('sort', () => rows.sort((a, b) => a.n - b.n));
  attempt('toSorted', () => [...rows].sort((a, b) => a.n - b.n));
  attempt('reverse', () => rows.reverse());
  attempt('entries', () => [...rows.entries()].length);
  attempt('flatMap', () => rows.flatMap((r) => [r.n, r.n]));
  attempt('findIndex', () => rows.findIndex((r) => r.n === 1));
  attempt('forEach', () => { let s = ''; rows.forEach((r, i) => { s += i; }); return s; });
  attempt('join', () => rows.join());
}
