import encoding from 'k6/encoding';
export default function () {
  for (const values of [['YWJj'], ['YWJj', 'std'], ['YWJj', 'std', 's'], ['YWJj', 'std', 'b'], ['YWJj', undefined, 's'], ['YWJj', null, 's'], ['YWJj', '', 's'], ['YWJj', 'STD', 's'], ['YWJj', 's'], ['_-8', 'rawurl'], ['_-8=', 'url'], ['/+8=', 'std'], ['/+8', 'rawstd'], []]) {
    try { const out = encoding.b64decode(...values); console.log(JSON.stringify(values), typeof out === 'string' ? out : new Uint8Array(out).join()); } catch (e) { console.log(JSON.stringify(values), 'threw', e.name); }
  }
}
