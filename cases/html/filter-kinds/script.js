import { parseHTML } from 'k6/html';
const doc = parseHTML('<li class=a>0</li><li>1</li><li class=a>2</li>');
export default function () {
  const li = doc.find('li');
  console.log(li.filter('.a').text(), li.filter((i) => i !== 1).text(), li.filter((i, e) => e.text() === '1').text(), li.filter(doc.find('.a')).size());
  console.log(li.filter(() => 'truthy').size(), li.filter(() => 0).size(), li.filter(() => undefined).size(), li.filter('none').size(), li.filter('li:first-child').text());
  for (const wrong of [undefined, null, 5, {}]) {
    try { console.log(String(wrong), li.filter(wrong).size()); } catch (e) { console.log(String(wrong), 'threw', e.name); }
  }
}
