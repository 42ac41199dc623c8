import { parseHTML } from 'k6/html';
export default function () {
  const found = parseHTML('<p class=a>one</p><p class=b>two</p>').find('p');
  found.filter((index, p) => console.log(index, p.text(), p.is('.b'), JSON.stringify(p.attr('class'))));
  console.log(found.filter((index, p) => p.text() === 'two').size());
  console.log(found.is((index, p) => p.text() === 'two'), found.not((index, p) => index === 0).text());
  console.log(found.filter((index, p) => p.attr('class') === 'b').size());
}
