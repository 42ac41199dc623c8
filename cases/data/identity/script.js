import { SharedArray } from 'k6/data';
const rows = new SharedArray('rows', () => [{ a: [1] }, 'x', 5]);
export default function () {
  console.log(rows[0] === rows[0], rows[1] === rows[1], rows[2] === rows[2], rows[0].a === rows[0].a, rows === rows);
  const first = rows[0];
  console.log(first === first, first === rows.find((r) => r.a), rows.indexOf('x'), rows.includes(5), Object.isFrozen(first), Object.isFrozen(first.a));
  for (const row of rows) console.log(JSON.stringify(row));
  try { first.a.push(2); console.log('pushed'); } catch (e) { console.log(e.name); }
}
