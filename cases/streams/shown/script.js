import { ReadableStream } from 'k6/experimental/streams';
export default function () {
  const stream = new ReadableStream();
  console.log(stream instanceof ReadableStream, typeof stream, typeof stream.tee, typeof stream.pipeTo, typeof stream.pipeThrough, typeof stream.cancel, typeof stream.getReader);
  const reader = stream.getReader();
  console.log(typeof reader.read, typeof reader.cancel, typeof reader.releaseLock, reader.closed instanceof Promise);
}
