import { parseHTML } from 'k6/html';
const doc = parseHTML('<p class="a b">x</p><p lang=de>y</p><i>z</i>');
export default function () {
  const p = doc.find('p');
  console.log(p.is('p'), p.is('.b'), p.is('i'), p.is('[lang]'), p.is('p, i'), p.is(':first-child'), p.is('body p'));
  console.log(p.is((i, e) => e.text() === 'y'), p.is(() => false), p.is(doc.find('.a')), p.is(doc.find('i')));
}
