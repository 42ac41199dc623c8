import { parseHTML } from 'k6/html';
const doc = parseHTML('<input><input type=number max=x min="" size=0 maxlength=-1 step=any tabindex=3 width=5 height=x><input type=TEXT name><button></button><textarea></textarea><label><input></label>');
export default function () {
  const readers = ['accessKey', 'autocomplete', 'checked', 'defaultChecked', 'defaultValue', 'disabled', 'max', 'maxLength', 'min', 'multiple', 'name', 'pattern', 'placeholder', 'readonly', 'required', 'size', 'step', 'tabIndex', 'type', 'value', 'width', 'height', 'autofocus'];
  for (const each of doc.find('input').toArray()) console.log(readers.map((name) => name + '=' + JSON.stringify(each.get(0)[name]())).join(' '));
  const [button, area] = [doc.find('button').get(0), doc.find('textarea').get(0)];
  console.log(button.type(), button.formMethod(), button.formEnctype(), JSON.stringify(button.value()), area.type(), area.rows(), area.cols(), area.maxLength(), area.wrap(), JSON.stringify(area.value()));
}
