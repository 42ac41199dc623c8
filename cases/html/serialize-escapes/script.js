import { parseHTML } from 'k6/html';
const doc = parseHTML('<form><input name="a b" value="c&d=e+f"><input name=uni value="é€"><input name=sl value="/?#[]@!$\'()*,;:"><input name=til value="~-._"><textarea name=t>line\r\nnext</textarea><input name=empty value=""><input name=dup value=1><input name=dup value=2></form>');
export default function () {
  console.log(doc.find('form').serialize());
  console.log(doc.find('input').serialize());
  console.log(JSON.stringify(doc.find('form').serializeArray().map((field) => field.name)));
}
