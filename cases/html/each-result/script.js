import { parseHTML } from 'k6/html';
const doc = parseHTML('<li>1</li><li>2</li><li>3</li>');
export default function () {
  const seen = [];
  const result = doc.find('li').each((index, element) => { seen.push(index + ':' + element.textContent()); return false; });
  console.log(seen.join(), result.size(), doc.find('none').each(() => console.log('never')).size());
  try { doc.find('li').each((i) => { if (i === 1) throw new RangeError('stop'); }); } catch (e) { console.log('threw', e.name); }
  for (const wrong of [undefined, null, 5, 'text', {}]) {
    try { console.log(doc.find('li').each(wrong).size()); } catch (e) { console.log(String(wrong), 'threw', e.name); }
  }
}
