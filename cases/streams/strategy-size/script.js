import { ReadableStream } from 'k6/experimental/streams';
export default function () {
  for (const size of [() => 1, () => 0, () => 2.5, () => -1, () => NaN, () => Infinity, () => 'x', () => undefined, () => { throw new RangeError('size'); }]) {
    let c;
    new ReadableStream({ start(given) { c = given; } }, { highWaterMark: 10, size });
    try { c.enqueue('chunk'); console.log(String(size), c.desiredSize); } catch (e) { console.log(String(size), 'threw', e.name, c.desiredSize); }
  }
}
