import { parseHTML } from 'k6/html';
const doc = parseHTML(`<form><input name=a type=checkbox value=1><input name=b type=checkbox value=1 checked><input name=c type=radio value=1><input name=d type=radio value=2 checked><input name=e type=file><input name=f type=submit value=s><input name=g type=button value=b><input name=h type=reset value=r><input name=i type=image value=i><input name=j type=hidden value=h><input name=k disabled value=1><fieldset disabled><input name=l value=1></fieldset><select name=m disabled><option selected>1</select><input type=text value=noname><input name="" value=emptyname><button name=n value=1>b</button></form>`);
export default function () {
  const names = doc.find('form').serializeArray().map((field) => field.name + '=' + field.value);
  console.log(names.join(' '));
  console.log(doc.find('form').serialize());
}
