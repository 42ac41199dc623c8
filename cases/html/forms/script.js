import { parseHTML } from 'k6/html';
const doc = parseHTML(`<form><input name=a value=1><input type=checkbox name=c checked><input type=radio name=r value=2 checked>
<select name=s><option value=1>one<option selected>two</select><select name=m multiple><option selected>x<option selected>y z</select>
<textarea name=t>some text</textarea><input type=submit name=go value=Go><input disabled name=dis value=1><button name=btn value=bv>B</button><input value=noname><input name=none></form><p>x</p>`);
export default function () {
  for (const s of ['[name=a]', '[name=c]', '[name=r]', '[name=s]', '[name=m]', 'textarea', 'option', 'button', 'p', 'zz', '[name=none]']) console.log(s, JSON.stringify(doc.find(s).val()));
  console.log(doc.find('form').serialize());
  console.log(JSON.stringify(doc.find('form').serializeArray()));
  const object = doc.find('form').serializeObject();
  console.log(Object.keys(object).sort().map((k) => `${k}=${object[k]}`).join());
  console.log(doc.find('input').serialize(), doc.find(':checked').size(), doc.find(':input').size(), doc.find(':disabled').size());
}
