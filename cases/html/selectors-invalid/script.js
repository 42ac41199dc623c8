import { parseHTML } from 'k6/html';
const doc = parseHTML('<p class=a>x</p>');
export default function () {
  for (const selector of ['', ' ', '[', ']', 'p[', 'p[a=', '.', '#', ':', '::before', 'p:', 'p:unknown', ':nth-child(', ':not()', '((', '>', '1p', 'p..a', 'p.a(', '"p"', '@p', '$', 'p & a']) {
    try { console.log(JSON.stringify(selector), doc.find(selector).size()); } catch (e) { console.log(JSON.stringify(selector), 'threw', e.name); }
  }
}
