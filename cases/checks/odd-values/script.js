import { check, group, fail, sleep, randomSeed } from 'k6';
function attempt(name, body) {
  try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); }
}

export default function () {
  attempt('no checks', () => check(1));
  attempt('null', () => check(1, null));
  attempt('empty', () => check(1, {}));
  attempt('text', () => check(1, 'x'));
  attempt('number', () => check(1, 5));
  attempt('list', () => check(1, [() => true, () => false]));
  attempt('values', () => check(1, { a: true, b: 0, c: 'x', d: null, e: undefined, f: {}, g: '' }));
  attempt('functions', () => check(5, { five: (v) => v === 5, other: (v) => v > 9, none: () => {} }));
  attempt('throws', () => check(1, { broken: () => { throw new RangeError('x'); } }));
  attempt('tags', () => check(1, { tagged: true }, { a: 'b' }));
  attempt('odd tags', () => check(1, { tagged: true }, 5));
  attempt('promise', () => check(1, { promised: async () => false }));
  attempt('colons', () => check(1, { 'a::b': true }));
  attempt('group value', () => group('g', () => 7));
  attempt('group no name', () => group('', () => 1));
  attempt('group odd name', () => group(5, () => 1));
  attempt('group null', () => group(null, () => 1));
  attempt('group no function', () => group('h'));
  attempt('group async', () => group('i', async () => 1));
  attempt('group colons', () => group('a::b', () => 1));
  attempt('group throws', () => group('t', () => { throw new RangeError('y'); }));
  attempt('sleep', () => sleep(0));
  attempt('sleep text', () => sleep('x'));
  attempt('sleep nothing', () => sleep());
  attempt('sleep negative', () => sleep(-1));
  attempt('seed', () => randomSeed(5));
  attempt('seed text', () => randomSeed('x'));
  attempt('fail', () => fail('why'));
  attempt('fail nothing', () => fail());
}
