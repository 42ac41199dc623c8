import { check } from 'k6';
export default function () {
  const sets = [{}, { 5: true }, [true, false], 'ab', 5, { a: () => Promise.resolve(false) }, { a: (v) => v === undefined }, { '': 1 }, new Map([['a', 1]])];
  for (const set of sets) console.log(check(undefined, set));
  for (const set of [null, undefined]) try { check(1, set); } catch (e) { console.log(e.name); }
}
