import { parseHTML } from 'k6/html';
const doc = parseHTML('<form><input name=a value=1><input name=a value=2><select name=m multiple><option selected>x<option selected>y</select><input name=z value=9></form>');
export default function () {
  const object = doc.find('form').serializeObject();
  console.log(Object.keys(object).sort().map((name) => name + '=' + JSON.stringify(object[name])).join());
}
