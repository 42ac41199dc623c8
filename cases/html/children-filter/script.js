import { parseHTML } from 'k6/html';
const doc = parseHTML('<ul id=u>text<li class=x>1</li><!-- c --><li>2<b class=x>3</b></li></ul><ul><li class=x>4</li></ul>');
export default function () {
  for (const selector of [undefined, 'li', '.x', 'b', '*', 'li, b', 'nothing', '[']) {
    const found = selector === undefined ? doc.find('ul').children() : doc.find('ul').children(selector);
    console.log(String(selector), found.size(), found.text());
  }
  console.log(doc.children().size(), doc.find('#u').children().first().is('.x'));
}
