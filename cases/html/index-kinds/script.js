import { parseHTML } from 'k6/html';
const doc = parseHTML('<ul><li id=a>0</li>text<li id=b class=x>1</li><li id=c class=x>2</li></ul>');
export default function () {
  const li = doc.find('li');
  console.log(doc.find('#c').index(), doc.find('#c').index('.x'), doc.find('#a').index('.x'), li.index(doc.find('#b')), li.index(), li.index('nothing'));
  console.log(li.index(doc.find('ul')), doc.find('.x').index('li'), doc.find('html').index());
}
