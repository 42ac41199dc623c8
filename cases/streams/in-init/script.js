import { ReadableStream } from 'k6/experimental/streams';
const reader = new ReadableStream({ start(c) { c.enqueue('early'); c.close(); } }).getReader();
const first = await reader.read();
export default async function () {
  console.log(JSON.stringify(first), JSON.stringify(await reader.read()));
}
