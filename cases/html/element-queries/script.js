import { parseHTML } from 'k6/html';
const doc = parseHTML('<div id=d><p class="x y">1</p><p class=y>2<b class=x>3</b></p></div><p class=x>4</p>');
export default function () {
  const d = doc.find('#d').get(0);
  const texts = (list) => list.map((each) => (each.text ? each.text() : each.textContent())).join();
  console.log(d.querySelector('.x').text(), d.querySelectorAll('.x').length, d.querySelectorAll('none').length);
  console.log(d.getElementsByClassName('x').length, d.getElementsByClassName('y x').length, d.getElementsByClassName('').length, d.getElementsByTagName('p').length, d.getElementsByTagName('P').length, d.getElementsByTagName('none').length);
  console.log(texts(d.getElementsByTagName('p')), texts(d.getElementsByClassName('y')));
  try { const none = d.querySelector('none'); console.log(none === undefined, none === null); } catch (e) { console.log('threw', e.name); }
}
