import { parseHTML } from 'k6/html';
const doc = parseHTML('<div id=d><ul><li class=x>1</li><li>2</li></ul></div>');
export default function () {
  const chain = doc.find('div').find('ul').children().filter('.x').first();
  console.log(chain.text(), chain.end().size(), chain.end().end().size(), chain.end().end().end().get(0).nodeName(), chain.end().end().end().end().get(0).id());
  console.log(doc.end().size(), doc.find('li').eq(1).end().eq(0).text());
}
