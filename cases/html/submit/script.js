import http from 'k6/http';
const fields = '<input name=a value=1><input name=b value="x y"><select name=s><option value=1 selected>one</select><input type=submit name=go value=Go>';
const page = (form) => http.post(`${__ENV.BASE}/back`, form, { headers: { 'Content-Type': 'text/html' } });
export default function () {
  const show = (r) => {
    const { method, path, query, body } = r.json();
    console.log(r.status, method, path, query, body, r.request.headers['Content-Type']);
  };
  show(page(`<form action="/echo/get">${fields}</form>`).submitForm());
  show(page(`<form action="/echo/post?q=1" method="post">${fields}</form>`).submitForm());
  show(page(`<form action="echo/relative" method="POST">${fields}</form>`).submitForm({ fields: { a: 'changed', more: 5 } }));
  show(page(`<form></form><form id=second action="/echo/second" method=post>${fields}</form>`).submitForm({ formSelector: '#second', submitSelector: '.none' }));
  show(page(`<form action="/echo/put" method="put">${fields}</form>`).submitForm({ params: { headers: { 'X-Own': '1' } } }));
  console.log(page(`<form method=post>${fields}</form>`).submitForm().body);
}
