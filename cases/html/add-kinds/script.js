import { parseHTML } from 'k6/html';
const doc = parseHTML('<p id=a>1</p><p id=b>2</p><div id=c>3</div>');
export default function () {
  const ids = (s) => s.map((i, e) => e.attr('id')).join();
  console.log(ids(doc.find('#b').add('#a')), ids(doc.find('#a').add(doc.find('div'))), ids(doc.find('p').add('p')));
  console.log(ids(doc.find('#c').add('#none')), doc.find('#none').add('#a').size(), ids(doc.find('#a').add('#b, #c').end()));
}
