import http from 'k6/http';
const page = (body) => http.post(`${__ENV.BASE}/back`, body, { headers: { 'Content-Type': 'text/html' } });
export default function () {
  for (const form of ['<form action=/echo>', '<form action="/echo?old=1">', '<form action="/echo#f" method=GET>', '<form action="/echo" method="">']) {
    const r = page(form + '<input name=b value="x y"><input name=a value="&é"></form>').submitForm();
    console.log(r.json('method'), r.json('query'), JSON.stringify(r.json('body')), r.url.replace(__ENV.BASE, ''));
  }
}
