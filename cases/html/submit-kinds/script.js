import http from 'k6/http';
const page = (body) => http.post(`${__ENV.BASE}/back`, `<form action=/echo method=post>${body}</form>`, { headers: { 'Content-Type': 'text/html' } });
export default function () {
  const sent = (body, options) => page(body).submitForm(options).json('body');
  console.log(sent('<input name=a type=checkbox value=1><input name=b type=checkbox checked><input name=c type=radio value=1><input name=c type=radio value=2 checked>'));
  console.log(sent('<select name=m multiple><option selected>1<option selected>2</select><select name=o><option>first<option>second</select><textarea name=t> x </textarea>'));
  console.log(sent('<input name=d disabled value=1><input value=noname><input name=e>'));
  console.log(sent('<input name=a value=1><input type=submit name=s value=one><input type=submit name=u value=two>'));
  console.log(sent('<input name=a value=1><button type=submit name=s value=one>1</button>', { submitSelector: 'button' }));
  console.log(sent('<input name=a value=1>', { fields: { a: [1, 2], b: null, c: true } }));
}
