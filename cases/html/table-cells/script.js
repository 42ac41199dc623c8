import { parseHTML } from 'k6/html';
const doc = parseHTML('<table id=t><caption>c</caption><tr id=r0><td id=c0><th id=c1 colspan=3><tr id=r1><td rowspan=2 colspan=0><thead><tr id=r2></thead><tfoot><tr id=r3></tfoot></table><table id=u></table>');
export default function () {
  const ids = (list) => list.map((e) => e.id()).join();
  const t = doc.find('#t').get(0), u = doc.find('#u').get(0);
  console.log(ids(t.rows()), t.tBodies().length, t.caption().textContent(), t.tHead().nodeName(), t.tFoot().nodeName());
  console.log(u.rows().length, u.tBodies().length, u.caption(), u.tHead(), u.tFoot());
  for (const id of ['r0', 'r1', 'r2', 'r3']) { const r = doc.find('#' + id).get(0); console.log(id, r.rowIndex(), r.sectionRowIndex(), r.cells().length); }
  for (const each of doc.find('td, th').toArray()) { const cell = each.get(0); console.log(cell.nodeName(), cell.cellIndex(), cell.colSpan(), cell.rowSpan()); }
}
