export default function () {
  console.log('text', 12, -0, 1.5, 1e21, NaN, Infinity, true, null, undefined);
  console.log([], [1, 'two', null, undefined, [3]], {}, { a: 1, b: { c: [true] } });
  console.log(new Date(0), new Error('shown'), /re+/g, Symbol('s'), 12n);
  console.log(function named() {}, () => 1, class K {}, async () => {});
  console.log(new Map([[1, 2]]), new Set([1]), new Uint8Array([1, 2]), new ArrayBuffer(2));
  console.log();
  console.log('');
  console.log('%s and %d', 'no', 'formatting');
  console.log('multi\nline', 'tab\there', '"quotes"', 'ünïcode ✓');
}
