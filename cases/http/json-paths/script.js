import http from 'k6/http';
const body = { 'a.b': 1, 'c d': 2, list: [{ n: 1, t: 'x' }, { n: 2, t: 'y' }, { n: 3 }], deep: { er: { est: [[1, 2], [3]] } }, empty: {}, none: null, 5: 'five', 'q"': 'quote' };
export default function () {
  const r = http.post(`${__ENV.BASE}/back`, JSON.stringify(body));
  for (const path of ['a\\.b', 'c d', 'list.#', 'list.#.n', 'list.#.t', 'list.1', 'list.-1', 'list.#(n=2).t', 'list.#(n>1)#.n', 'list.#(t=="x").n', 'list.#(t%"*")#.n', 'list.#(n<0)', 'list.#(n<0)#', 'deep.er.est.0.1', 'deep.er.est.#.0', 'd*.er', 'l?st.0.n', 'list|0', 'list|#', 'empty', 'none', 'none.x', '5', 'q"', 'list.@reverse', '@this.5', 'list.0.@keys', 'list.#.n|@reverse', '{list.0.n,none}', '[5,none]', '..#', '.', 'list.']) {
    try { const found = r.json(path); console.log(path, typeof found, JSON.stringify(found)); } catch (e) { console.log(path, 'threw', e.name); }
  }
}
