import { parseHTML } from 'k6/html';
export default function () {
  const form = parseHTML('<form method=dialog><button formmethod=dialog>').find('form').get(0);
  console.log(form.method(), form.elements()[0].formMethod());
}
