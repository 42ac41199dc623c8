import { parseHTML } from 'k6/html';
const none = parseHTML('<p>x</p>').find('article');
export default function () {
  console.log(none.size(), none.first().size(), none.last().size(), none.eq(0).size(), none.text() === '', none.html(), none.val(), none.attr('id'), none.get(0));
  console.log(none.parent().size(), none.children().size(), none.next().size(), none.siblings().size(), none.toArray().length, none.map(() => 1).length, none.index(), none.is('p'));
  console.log(none.serialize() === '', JSON.stringify(none.serializeArray()), JSON.stringify(none.serializeObject()), none.slice(0).size(), none.closest('body').size());
}
