import { ReadableStream } from 'k6/experimental/streams';
export default async function () {
  const object = { a: 1 };
  const chunks = [0, '', null, undefined, NaN, false, object, [1], new Uint8Array([7]), Symbol.iterator, 10n];
  const reader = new ReadableStream({ start(c) { chunks.forEach((chunk) => c.enqueue(chunk)); c.close(); } }).getReader();
  let same = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) { console.log('done', value); break; }
    if (Object.is(value, chunks[same])) same += 1; else console.log('differs', same, String(value), String(chunks[same]));
  }
  console.log(same, chunks.length);
}
