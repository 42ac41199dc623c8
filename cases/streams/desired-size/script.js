import { ReadableStream, CountQueuingStrategy } from 'k6/experimental/streams';
export default function () {
  for (const strategy of [undefined, {}, { highWaterMark: 0 }, { highWaterMark: 5 }, { highWaterMark: Infinity }, { highWaterMark: 2.5 }, new CountQueuingStrategy({ highWaterMark: 4 })]) {
    let c;
    new ReadableStream({ start(given) { c = given; } }, strategy);
    const before = c.desiredSize;
    c.enqueue('chunk');
    console.log(before, c.desiredSize);
  }
}
