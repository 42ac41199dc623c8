import http from 'k6/http';
function attempt(name, body) { try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); } }
export default function () {
  attempt('none', () => http.get(`${__ENV.BASE}/html`, { responseType: 'none' }).html().text());
  attempt('empty', () => JSON.stringify(http.get(`${__ENV.BASE}/empty`).html().text()));
  attempt('json', () => http.get(`${__ENV.BASE}/json`).html('body').text().slice(0, 8));
  attempt('selector', () => http.get(`${__ENV.BASE}/html`).html('a').attr('href'));
  attempt('list', () => http.get(`${__ENV.BASE}/html`).html('h1, a').size());
  attempt('missing', () => http.get(`${__ENV.BASE}/html`).html('none').size());
}
