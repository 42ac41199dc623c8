import { parseHTML } from 'k6/html';
const doc = parseHTML('<textarea id=a>\n line\n </textarea><select id=b><option disabled selected>  spaced  </option></select><select id=c multiple></select><select id=d multiple><option selected value="">e</option></select><input id=e type=file value=f><option id=f>  in  </option><p id=g value=v></p><select id=h><optgroup><option>1<option value=2 selected>two</optgroup></select><select id=i><option value=x selected><option value=y selected></select><meter id=j value=5></meter><button id=k></button>');
export default function () {
  for (const id of 'abcdefghijk') console.log(id, JSON.stringify(doc.find('#' + id).val()));
  console.log(JSON.stringify(doc.find('input, textarea').val()));
}
