import { parseHTML } from 'k6/html';
const doc = parseHTML('<p data-a=1 data-a-b=2 data-AbC=3 data-1x=4 data-a--b=5 data-=6 data-a_b=7 data-a.b=8 data-x-y-z=9 dataset=10></p><p data-a=second></p>');
export default function () {
  for (const name of ['a', 'a-b', 'aB', 'AbC', 'abc', '1x', 'a--b', 'a-B', '', 'a_b', 'a.b', 'xYZ', 'x-y-z', 'data-a', 'set']) console.log(JSON.stringify(name), JSON.stringify(doc.find('p').data(name)));
  const all = doc.find('p').data();
  console.log(Object.keys(all).sort().map((key) => key + '=' + all[key]).join(' '));
}
