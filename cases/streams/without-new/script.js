import { ReadableStream, ReadableStreamDefaultReader, CountQueuingStrategy } from 'k6/experimental/streams';
export default function () {
  for (const call of [() => ReadableStream(), () => ReadableStreamDefaultReader(new ReadableStream()), () => CountQueuingStrategy({ highWaterMark: 1 })]) {
    try { console.log(typeof call()); } catch (e) { console.log('threw', e.name); }
  }
}
