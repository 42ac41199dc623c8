import { ReadableStream } from 'k6/experimental/streams';
export default async function () {
  let controller;
  const reader = new ReadableStream({ start(c) { controller = c; c.enqueue('a'); c.enqueue('b'); c.close(); } }).getReader();
  console.log(controller.desiredSize);
  for (let i = 0; i < 3; i++) console.log(JSON.stringify(await reader.read()));
  console.log(controller.desiredSize);
}
