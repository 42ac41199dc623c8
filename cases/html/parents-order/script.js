import { parseHTML } from 'k6/html';
const doc = parseHTML('<div id=a class=x><div id=b><i id=1></i></div><div id=c class=x><i id=2></i></div></div>');
export default function () {
  const ids = (s) => s.map((i, e) => e.attr('id') || e.get(0).nodeName()).join();
  console.log(ids(doc.find('i').parent()), ids(doc.find('i').parent('.x')), ids(doc.find('i').parents()), ids(doc.find('i').parents('.x')), ids(doc.find('#2').parents('div')));
  console.log(ids(doc.find('html').parent()), doc.find('html').parents().size(), ids(doc.find('i').parents('html')));
}
