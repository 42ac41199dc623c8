import { parseHTML } from 'k6/html';
const doc = parseHTML('<div id=d class="a b" title=t>x<b>y</b><!--c--><a href="/x/y?z=1#f">link</a></div><form id=f action=/post method=POST><input name=a value=1><input type=checkbox checked></form>');
export default function () {
  const d = doc.find('#d').get(0);
  for (const m of ['nodeName', 'nodeType', 'id', 'className', 'textContent', 'innerHTML', 'childElementCount', 'hasChildNodes', 'toString', 'nodeValue']) console.log(m, d[m]());
  console.log(d.classList().join(), d.getAttribute('title'), d.getAttribute('zz'), d.hasAttribute('id'), d.hasAttribute('zz'), d.childNodes().length, d.children().length);
  console.log(d.firstChild().nodeName(), d.firstChild().nodeValue(), d.firstElementChild().nodeName(), d.lastChild().nodeName(), d.parentElement().nodeName());
  console.log(d.firstElementChild().nextElementSibling().nodeName(), d.querySelector('a').text(), d.querySelectorAll('*').length);
  const [a, form, input, box] = [doc.find('a').get(0), doc.find('form').get(0), doc.find('input').get(0), doc.find('input').get(1)];
  console.log(a.href(), a.pathname(), form.action(), form.method(), form.elements().length, input.name(), input.value(), input.type(), input.form().id(), box.type(), box.checked());
}
