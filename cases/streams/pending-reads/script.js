import { ReadableStream } from 'k6/experimental/streams';
export default async function () {
  let controller;
  const reader = new ReadableStream({ start(c) { controller = c; } }).getReader();
  const reads = [1, 2, 3, 4].map((n) => reader.read().then((r) => console.log(n, r.value, r.done)));
  controller.enqueue('a');
  controller.enqueue('b');
  console.log('enqueued');
  setTimeout(() => { controller.enqueue('c'); controller.close(); }, 10);
  await Promise.all(reads);
}
