import { parseHTML } from 'k6/html';
const doc = parseHTML('<div>a<b>c</b><!--d--> <i></i></div><p></p>');
export default function () {
  const all = doc.find('div').contents();
  console.log(all.size(), all.toArray().map((s) => s.get(0).nodeName()).join(), JSON.stringify(all.text()));
  console.log(doc.find('p').contents().size(), doc.find('none').contents().size(), doc.find('b').contents().contents().size());
}
