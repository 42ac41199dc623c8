import { parseHTML } from 'k6/html';
const doc = parseHTML('<li id=a>0</li><li>1</li><li>2</li>');
export default function () {
  const li = doc.find('li');
  console.log(JSON.stringify(li.map((i, e) => [i, e.text()])), JSON.stringify(li.map(() => undefined)), JSON.stringify(li.map((i) => (i ? null : {}))));
  console.log(Array.isArray(li.map((i) => i)), li.map((i, e) => e.attr('id')).length, typeof li.map((i, e) => e)[0].find);
  for (const wrong of [undefined, 'text', 5]) {
    try { console.log(li.map(wrong).length); } catch (e) { console.log(String(wrong), 'threw', e.name); }
  }
}
