import * as streams from 'k6/experimental/streams';
export default function () {
  for (const name of ['ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamDefaultController', 'WritableStream', 'WritableStreamDefaultWriter', 'TransformStream', 'CountQueuingStrategy', 'ByteLengthQueuingStrategy', 'default']) console.log(name, typeof streams[name]);
  console.log(typeof globalThis.ReadableStream);
}
