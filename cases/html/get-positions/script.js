import { parseHTML } from 'k6/html';
const doc = parseHTML('<li>0</li><li>1</li><li>2</li>');
export default function () {
  const li = doc.find('li');
  for (const index of [0, 1, 2, 3, -1, -3, -4]) { const found = li.get(index); console.log(index, found === undefined ? 'undefined' : found.textContent()); }
  console.log(li.toArray().length, li.toArray()[1].text(), li.toArray()[2].get(0).nodeName());
}
