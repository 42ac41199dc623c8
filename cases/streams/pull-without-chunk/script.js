import { ReadableStream } from 'k6/experimental/streams';
export default async function () {
  let pulls = 0, controller;
  const reader = new ReadableStream({ start(c) { controller = c; }, pull() { pulls += 1; } }).getReader();
  const read = reader.read();
  await new Promise((done) => setTimeout(done, 10));
  console.log('pulls', pulls);
  controller.enqueue('late');
  console.log(JSON.stringify(await read), pulls >= 1);
}
