import { parseHTML } from 'k6/html';
const doc = parseHTML('<div><input name=a value=1><p name=b>2</p><select name=c><option>3</select></div><form id=f></form>');
export default function () {
  for (const selector of ['div', 'input', 'p', 'select', 'form', 'input, select', 'option']) console.log(selector, doc.find(selector).serialize(), JSON.stringify(doc.find(selector).serializeArray()), JSON.stringify(doc.find(selector).serializeObject()));
}
