import http from 'k6/http';
const page = (body) => http.post(`${__ENV.BASE}/back`, body, { headers: { 'Content-Type': 'text/html' } });
function attempt(name, body) { try { const r = body(); console.log(name, r.status, r.request.method, r.url.replace(__ENV.BASE, '')); } catch (e) { console.log(name, 'threw', e.name); } }
export default function () {
  for (const href of ['/get', 'get', './get?x=1', '../get', '/get#part', '?q=1', '', '//' + __ENV.BASE.slice(7) + '/get', __ENV.BASE + '/get/abs']) attempt(JSON.stringify(href.replace(__ENV.BASE.slice(7), 'host')), () => page(`<a href="${href}">x</a>`).clickLink());
  attempt('second', () => page('<a href=/get/1>1</a><a class=b href=/get/2>2</a>').clickLink({ selector: '.b' }));
  attempt('no href', () => page('<a>1</a><a href=/get/2>2</a>').clickLink());
  attempt('params', () => page('<a href=/echo>1</a>').clickLink({ params: { headers: { 'X-A': '1' } } }));
  attempt('base', () => page('<base href="/get/base/"><a href=x>1</a>').clickLink());
}
