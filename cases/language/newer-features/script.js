export default function () {
  const tests = {
    at: () => [1, 2].at(-1), flat: () => [[1], [2]].flat().length, hasOwn: () => Object.hasOwn({ a: 1 }, 'a'), findLast: () => [1, 2, 3].findLast((n) => n < 3), toSorted: () => [2, 1].toSorted().join(), with: () => [1, 2].with(0, 5).join(), toSpliced: () => [1, 2].toSpliced(0, 1).join(), replaceAll: () => 'aa'.replaceAll('a', 'b'), logical: () => { let x = null; x ??= 3; x ||= 4; x &&= 5; return x; }, numeric: () => 1_000, classFields: () => new (class { a = 1; static #b = 2; static get b() { return this.#b; } })().a, privateIn: () => (class { #x; static has(o) { return #x in o; } }).has({}), errorCause: () => new Error('a', { cause: 'b' }).cause, promiseAny: () => typeof Promise.any, regexSticky: () => /a/y.test('ba'), lookbehind: () => 'a1'.replace(/(?<=a)\d/, 'x'), spread: () => Math.max(...[1, 2], 3), optional: () => ({}).a?.b?.(), exponent: () => 2 ** -1, bigint: () => String(2n ** 64n),
  };
  for (const name of Object.keys(tests)) { try { console.log(name, tests[name]()); } catch (e) { console.log(name, 'threw', e.name); } }
}
