import http from 'k6/http';
export default function () {
  const page = http.get(`${__ENV.BASE}/html`);
  console.log(page.html().find('title').text(), page.html('h1').text());
  console.log(page.clickLink().url.replace(__ENV.BASE, ''), page.clickLink({ selector: 'a', params: { tags: { name: 'clicked' } } }).status);
  for (const fails of [() => page.clickLink({ selector: 'zz' }), () => page.submitForm(), () => page.clickLink({ selector: 'h1' })]) {
    try { console.log(fails().status); } catch (e) { console.log(e.name, e.message.replace(__ENV.BASE, '')); }
  }
  const binary = http.get(`${__ENV.BASE}/html`, { responseType: 'binary' });
  console.log(binary.html().find('h1').text());
}
