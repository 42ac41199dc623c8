import { parseHTML } from 'k6/html';
function attempt(name, body) { try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); } }
export default function () {
  for (const value of ['', ' ', 'text', '<', '&', null, undefined, true, 1.5, {}, [], ['<p>1</p>', '<p>2</p>'], '\ufeff<p>bom</p>']) {
    attempt(JSON.stringify(value) + '', () => { const doc = parseHTML(value); return [doc.size(), JSON.stringify(doc.text()), doc.find('*').size(), doc.find('p').size()].join(' '); });
  }
  attempt('nothing', () => parseHTML().text());
}
