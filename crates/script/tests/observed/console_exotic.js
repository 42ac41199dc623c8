export default function () {
  console.log(new Error('plain'), new TypeError('typed'));
  console.log([new Error('inside')], { e: new RangeError('deep') });
  console.log(Symbol('s'), [Symbol('t')], { s: Symbol('u') });
  console.log(/re/g, [/re/]);
  console.log(new Map([[1, 2]]), new Set([1, 2]), new WeakMap());
  console.log([new Map([[1, 2]])], { s: new Set([1]) });
  console.log(new ArrayBuffer(3), new Uint8Array([1, 2]), new Float64Array([1.5]), new DataView(new ArrayBuffer(2)));
  console.log([new Uint8Array([1, 2]).buffer], { u: new Uint8Array([1, 2]) });
  console.log(Promise.resolve(1), [Promise.resolve(1)]);
  console.log(new Proxy({ a: 1 }, {}));
  console.log([10n], { n: 10n });
  console.log((function () { return arguments; })(1, 2));
  console.log({ [Symbol('k')]: 1, a: 2 });
}
