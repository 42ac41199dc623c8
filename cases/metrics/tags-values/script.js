import { Counter } from 'k6/metrics';
const c = new Counter('c1');
export default function () {
  for (const tags of [{ a: 5 }, { a: 1.5 }, { a: true }, { a: null }, { a: undefined }, { a: '' }, { a: [1] }, { a: { b: 1 } }, { a: 10n }, { '': 'x' }, { 'a b': 'x' }, { group: 'own' }, { scenario: 'own' }, { vu: 'own' }, 'text', 5, ['x'], null]) {
    try { c.add(1, tags); console.log('added'); } catch (e) { console.log('threw', e.name); }
  }
}
