import { parseHTML } from 'k6/html';
const doc = parseHTML('<li>0</li><li>1</li><li>2</li><li>3</li>');
export default function () {
  for (const bounds of [[0], [1], [1, 3], [-2], [-3, -1], [0, -1], [2, 2], [4], [0, 4]]) {
    try { console.log(bounds.join(), JSON.stringify(doc.find('li').slice(...bounds).text())); } catch (e) { console.log(bounds.join(), 'threw', e.name); }
  }
}
