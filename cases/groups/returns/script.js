import { group } from 'k6';
export default function () {
  for (const value of [1, 'text', null, undefined, { a: 1 }, [1]]) console.log(JSON.stringify(group('g', () => value)));
  for (const values of [[], ['g'], ['g', null], ['g', 5], [null, () => 1], [undefined, () => 2], [5, () => 3], ['', () => 4], [{}, () => 5]]) {
    try { console.log(JSON.stringify(values), group(...values)); } catch (e) { console.log(JSON.stringify(values), 'threw', e.name); }
  }
}
