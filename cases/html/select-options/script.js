import { parseHTML } from 'k6/html';
const doc = parseHTML('<form id=f><label for=s>L</label><select id=s><option value=a>A<optgroup label=G><option id=b selected>B<option disabled>C</optgroup></select><select id=m multiple size=3><option selected>1<option>2<option selected>3</select></form>');
export default function () {
  const one = doc.find('#s').get(0), many = doc.find('#m').get(0);
  for (const select of [one, many]) console.log(select.length(), select.options().map((o) => o.value() + ':' + o.text()).join(), select.selectedIndex(), select.selectedOptions().map((o) => o.text()).join(), select.value(), select.type(), select.size(), select.multiple(), select.form().id());
  console.log(one.labels().length, one.options().map((o) => o.index() + ' ' + o.disabled() + ' ' + o.selected() + ' ' + o.label()).join('; '), doc.find('#b').get(0).form().id());
}
