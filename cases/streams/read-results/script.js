import { ReadableStream } from 'k6/experimental/streams';
export default async function () {
  const reader = new ReadableStream({ start(c) { c.enqueue('x'); c.close(); } }).getReader();
  const pending = reader.read();
  console.log(pending instanceof Promise);
  const first = await pending, second = await reader.read(), third = await reader.read();
  console.log(Object.keys(first).sort().join(), JSON.stringify(first), JSON.stringify(second), 'value' in second, second.value, third.done);
}
