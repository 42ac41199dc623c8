import { parseHTML } from 'k6/html';
const doc = parseHTML('<input id=i disabled value="" DATA-Upper=Yes title="one" title="two">');
export default function () {
  const input = doc.find('input');
  for (const [name, fallback] of [['disabled', 'd'], ['value', 'd'], ['data-upper', 'd'], ['DATA-UPPER', 'd'], ['title', 'd'], ['none', 'd'], ['none', 5], ['none', null], ['none', undefined], ['', 'd']]) {
    console.log(name, JSON.stringify(input.attr(name, fallback)));
  }
  console.log(JSON.stringify(input.attr('none')), JSON.stringify(doc.find('#nobody').attr('id', 'fallback')));
}
