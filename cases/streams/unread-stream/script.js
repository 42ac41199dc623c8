import { ReadableStream } from 'k6/experimental/streams';
export default function () {
  new ReadableStream({ start(c) { c.enqueue(1); } });
  new ReadableStream().getReader().read().then(() => console.log('never'));
  console.log('end');
}
