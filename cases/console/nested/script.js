export default function () {
  console.log({ text: 'a "b"', list: [{ x: 1 }, 'y'], fn() {}, none: null, gone: undefined, date: new Date(0), neg: -1.5, big: 1e300 });
  console.log({ 'key with space': 1, 5: 'five' }, [[[[1]]]], [{}], { a: [] });
}
