import { parseHTML } from 'k6/html';
const doc = parseHTML('<p id=a><b></b></p><p id=b><i><b></b></i></p><p id=c></p><b></b>');
export default function () {
  const ids = (s) => s.map((i, e) => e.attr('id')).join();
  console.log(ids(doc.find('p').has('b')), ids(doc.find('p').has('i b')), ids(doc.find('p').has('p')), ids(doc.find('p').has(doc.find('i'))));
}
