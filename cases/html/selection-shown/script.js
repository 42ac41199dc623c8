import { parseHTML } from 'k6/html';
const doc = parseHTML('<p id=a>x</p><p>y</p>');
export default function () {
  const p = doc.find('p');
  console.log(typeof p, p.length, p[0], Array.isArray(p), typeof p.find, typeof p.get(0).nodeName, p.size === undefined);
  console.log(p === p, p === doc.find('p'), typeof p.toArray(), p.nothing, p.get(0).nothing);
  try { for (const each of p) console.log('each', each); } catch (e) { console.log('threw', e.name); }
}
