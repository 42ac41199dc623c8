import { parseHTML } from 'k6/html';
const doc = parseHTML('<p id=a></p>text<p id=b class=x></p><i id=c></i><p id=d class=x></p>');
export default function () {
  const ids = (s) => s.map((i, e) => e.attr('id')).join();
  console.log(ids(doc.find('#a').next()), ids(doc.find('#a').next('.x')), ids(doc.find('#b').next('.x')), ids(doc.find('p').next()), ids(doc.find('#d').next()));
  console.log(ids(doc.find('#d').prev()), ids(doc.find('#d').prev('.x')), ids(doc.find('#c').prev('.x')), ids(doc.find('p').prev()), ids(doc.find('#a').prev()));
  console.log(ids(doc.find('#a').nextAll('.x')), ids(doc.find('#d').prevAll('p')), ids(doc.find('.x').nextAll()));
}
