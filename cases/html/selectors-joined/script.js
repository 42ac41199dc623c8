import { parseHTML } from 'k6/html';
const doc = parseHTML('<div id=a class="x y"><p id=b><i id=c></i></p><i id=d></i></div><i id=e></i><p id=f class=X><i id=g></i></p>');
export default function () {
  for (const selector of ['div i', 'div>i', 'div > p > i', 'p+i', 'p ~ i', 'div + i', 'div ~ p i', '*', '* *', 'div *', '.x.y', '.y.x#a', 'i,p', 'i , p,', ',i', '#a #c', '.X', 'DIV', 'div  i', '> i', 'div >', 'div + + i', 'i#c', '#\\63', '.x:not(.z)', 'body > :not(i)']) {
    console.log(selector, doc.find('body').find(selector).map((i, e) => e.attr('id')).join(''));
  }
}
