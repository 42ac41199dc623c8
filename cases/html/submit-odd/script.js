import http from 'k6/http';
const page = (body) => http.post(`${__ENV.BASE}/back`, body, { headers: { 'Content-Type': 'text/html' } });
function attempt(name, body) { try { const r = body(); console.log(name, r.status, r.json('method'), r.json('path'), r.json('body')); } catch (e) { console.log(name, 'threw', e.name); } }
const field = '<input name=a value=1>';
export default function () {
  attempt('no form', () => page('<p>x</p>').submitForm());
  attempt('no such form', () => page(`<form action=/echo method=post>${field}</form>`).submitForm({ formSelector: '#none' }));
  attempt('second form', () => page(`<form></form><form id=b action=/echo/b method=post>${field}</form>`).submitForm({ formSelector: '#b' }));
  attempt('lower put', () => page(`<form action=/echo method=put>${field}</form>`).submitForm());
  attempt('delete', () => page(`<form action=/echo method=delete>${field}</form>`).submitForm());
  attempt('null', () => page(`<form action=/echo method=post>${field}</form>`).submitForm(null));
  attempt('plain', () => page(`<form action=/echo method=post enctype="text/plain">${field}</form>`).submitForm());
}
