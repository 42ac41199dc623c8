export default function () {
  const circular = { a: 1 };
  circular.self = circular;
  for (const value of [new Int8Array([1, -1]), new Uint8Array([1]), new Int16Array([1]), new Uint16Array([1]), new Int32Array([1]), new Uint32Array([1]), new Float32Array([0.5]), new Float64Array([0.1, NaN]), new ArrayBuffer(3), new DataView(new ArrayBuffer(2)), new Map([[1, 'a']]), new Set([1]), new Date(0), /a/g, Symbol('s'), 10n, -0, NaN, Infinity, null, undefined, true, '', 'text', [], [1, [2, [3]]], [undefined, null], {}, { a: undefined, b: null, c: () => 1 }, { a: { b: { c: { d: 1 } } } }, () => 1, function named() {}, class A {}, new (class B { constructor() { this.x = 1; } })(), new Error('broken'), new TypeError('type'), circular, Object.create(null), new Proxy({ a: 1 }, {}), Promise.resolve(1), new WeakMap(), [new Error('in a list')], { toJSON() { return 'json'; } }, { toString() { return 'text'; } }, new String('boxed'), new Number(5)]) {
    console.log(value);
  }
  console.log();
  console.log('a', 1, { b: 2 }, [3]);
  console.log('%s %d', 'x', 5);
}
