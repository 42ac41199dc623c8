import { parseHTML } from 'k6/html';
const doc = parseHTML('<section id=s><div id=o class=y><div id=m><i id=1></i><b id=2></b><i id=3></i><u id=4></u><i id=5></i></div></div></section>');
export default function () {
  const ids = (s) => s.map((i, e) => e.attr('id')).join();
  console.log(ids(doc.find('#1').nextUntil('u')), ids(doc.find('#1').nextUntil('u', 'i')), ids(doc.find('#1').nextUntil()), ids(doc.find('#1').nextUntil('none', 'i')), ids(doc.find('#1').nextUntil(doc.find('#3'))));
  console.log(ids(doc.find('#5').prevUntil('b')), ids(doc.find('#5').prevUntil('b', 'i')), ids(doc.find('#5').prevUntil(doc.find('#1'), 'i')));
  console.log(ids(doc.find('#1').parentsUntil('section')), ids(doc.find('#1').parentsUntil('section', '.y')), ids(doc.find('#1').parentsUntil(doc.find('#o'))));
}
