import { parseHTML } from 'k6/html';
const page = parseHTML('<select id=s><option id=a>A<option id=b selected>B</select><datalist id=dl><option id=d>D</datalist><form id=f1><input id=i1 list=dl><input id=i2 form=f2 list=s><label id=l1 for=i1>x</label><select id=s2><option id=e form=f2></select></form><form id=f2></form><input id=i3 form=f2><label id=l2 for="i1" form=f1></label>');
const id = (element) => element && element.id();
export default function () {
  const options = page.find('option');
  console.log(options.get().map(id), page.find('none').get(), options.get('1').id(), options.get(1.7).id(), options.get(undefined).id());
  for (const name of ['i1', 'i2', 'i3']) { const field = page.find(`#${name}`).get(0); console.log(name, id(field.form()), id(field.list()), field.labels().map(id)); }
  for (const name of ['l1', 'l2']) { const label = page.find(`#${name}`).get(0); console.log(name, id(label.form()), id(label.control())); }
  for (const name of ['a', 'b', 'd', 'e']) { const option = page.find(`#${name}`).get(0); console.log(name, id(option.form()), option.index()); }
}
