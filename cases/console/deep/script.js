export default function () {
  console.log({ a: { b: { c: { d: { e: { f: 1 } } } } } });
  console.log([[[[[1]]]]], Array.from({ length: 120 }, (_, i) => i));
  console.log('x'.repeat(2000).length, { long: 'y'.repeat(300) });
  console.log([, 1, , 2], [undefined, null], { 'key with space': 1, 5: 2, ünï: 3, 'q"': 4 });
}
