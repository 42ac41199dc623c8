import { ReadableStream, ReadableStreamDefaultReader } from 'k6/experimental/streams';
export default async function () {
  for (const value of [undefined, null, 5, 'text', {}, []]) {
    try { new ReadableStreamDefaultReader(value); console.log('made'); } catch (e) { console.log(JSON.stringify(value), 'threw', e.name); }
  }
  const stream = new ReadableStream({ start(c) { c.enqueue('x'); c.close(); } });
  const reader = new ReadableStreamDefaultReader(stream);
  console.log(stream.locked, JSON.stringify(await reader.read()), reader instanceof ReadableStreamDefaultReader);
}
