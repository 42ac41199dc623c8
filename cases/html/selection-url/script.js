import http from 'k6/http';
import { parseHTML } from 'k6/html';
export default function () {
  const page = http.get(`${__ENV.BASE}/html`);
  const shown = (url) => [typeof url, String(url).replace(__ENV.BASE, '')].join(' ');
  const whole = page.html();
  console.log('whole', shown(whole.url), 'url' in whole);
  console.log('found', shown(whole.find('h1').url), shown(page.html('h1').url), shown(whole.find('none').url));
  console.log('moved', shown(whole.find('h1').parent().url), shown(whole.find('h1').first().url), shown(whole.find('h1').end().url));
  const parsed = parseHTML('<p>text</p>');
  console.log('parsed', shown(parsed.url), shown(parsed.find('p').url), 'url' in parsed);
  console.log('keys', Object.keys(whole).includes('url'), Object.keys(parsed).includes('url'));
  try {
    whole.url = 'http://other/';
    console.log('set', shown(whole.url), shown(whole.find('h1').url));
  } catch (e) {
    console.log('not set', e.name);
  }
}
