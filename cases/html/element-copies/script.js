import { parseHTML } from 'k6/html';
const page = parseHTML('<form id=f method=post action=/go><input name=a value=b><a href="/x?y#z">link</a></form>');
export default function () {
  const input = page.find('input').get(0), link = page.find('a').get(0);
  const { value, nodeName, getAttribute } = input;
  console.log(value(), nodeName(), getAttribute('name'));
  const copy = { ...link };
  console.log(typeof copy.href, copy.textContent(), copy.hash(), copy.nodeName());
  console.log(Object.keys(input).includes('value'), Object.keys(link).includes('hash'));
}
