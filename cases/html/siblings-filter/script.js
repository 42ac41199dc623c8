import { parseHTML } from 'k6/html';
const doc = parseHTML('<div><p id=a class=x></p><p id=b></p><p id=c class=x></p></div><div><p id=d class=x></p><p id=e></p></div>');
export default function () {
  const ids = (s) => s.map((i, e) => e.attr('id')).join();
  console.log(ids(doc.find('#a').siblings()), ids(doc.find('#a').siblings('.x')), ids(doc.find('#a, #d').siblings()), ids(doc.find('#a, #b').siblings()), doc.find('body').siblings('p').size());
}
