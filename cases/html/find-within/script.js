import { parseHTML } from 'k6/html';
const doc = parseHTML('<div class=o id=1><div class=o id=2><p id=3></p></div><p id=4></p></div><p id=5></p>');
export default function () {
  const ids = (s) => s.map((i, e) => e.attr('id')).join();
  console.log(ids(doc.find('.o').find('p')), ids(doc.find('.o').find('.o')), ids(doc.find('p, div')), ids(doc.find('.o > p')));
  console.log(ids(doc.find('.o').find(doc.find('p'))), ids(doc.find('.o').find('.o p')), doc.find('p').find('p').size());
}
