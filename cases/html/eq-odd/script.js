import { parseHTML } from 'k6/html';
const doc = parseHTML('<li>0</li><li>1</li><li>2</li>');
export default function () {
  for (const index of [0, 2, 3, -1, -3, -4, 1.7, '1', 'x', null, undefined, true, NaN, 4294967297]) {
    try { console.log(String(index), JSON.stringify(doc.find('li').eq(index).text())); } catch (e) { console.log(String(index), 'threw', e.name); }
  }
}
