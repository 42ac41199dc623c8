import { parseHTML } from 'k6/html';
const doc = parseHTML('<div>a<b>c<i>d</i></b><!--e--><br>f &amp; g</div><p></p>');
export default function () {
  const div = doc.find('div').get(0), p = doc.find('p').get(0);
  console.log(div.innerHTML(), '|', div.textContent(), '|', div.innerText && 'has inner text');
  console.log(div.childElementCount(), div.children().map((e) => e.nodeName()).join(), div.childNodes().map((e) => e.nodeName()).join(), div.firstElementChild().nodeName(), div.lastElementChild().nodeName());
  console.log(JSON.stringify(p.innerHTML()), JSON.stringify(p.textContent()), p.childElementCount(), p.children().length, p.childNodes().length, p.hasChildNodes());
}
