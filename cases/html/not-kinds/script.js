import { parseHTML } from 'k6/html';
const doc = parseHTML('<li class=a>0</li><li>1</li><li class=a>2</li>');
export default function () {
  const li = doc.find('li');
  console.log(li.not('.a').text(), li.not((i) => i === 1).text(), li.not(doc.find('.a')).text(), li.not('none').size(), li.not('li').size(), li.not('.a').end().size());
}
