import { ReadableStream, CountQueuingStrategy } from 'k6/experimental/streams';
export default async function () {
  const strategy = new CountQueuingStrategy({ highWaterMark: 3 });
  console.log(strategy.highWaterMark, strategy.size('text'), strategy.size());
  let pulled = 0;
  const stream = new ReadableStream({ pull(controller) { controller.enqueue(++pulled); } }, strategy);
  await new Promise((resolve) => setTimeout(resolve, 10));
  console.log(pulled);
  const reader = stream.getReader();
  console.log(JSON.stringify([await reader.read(), await reader.read()]));
  await new Promise((resolve) => setTimeout(resolve, 10));
  console.log(pulled);
  let own;
  new ReadableStream({ start(controller) { own = controller; } }, { highWaterMark: 10, size(chunk) { return chunk.length; } });
  own.enqueue('abc');
  console.log(own.desiredSize);
  own.enqueue('abcdefghij');
  console.log(own.desiredSize);
}
