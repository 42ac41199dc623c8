import { ReadableStream } from 'k6/experimental/streams';
export default async function () {
  let controller;
  const stream = new ReadableStream({ start(c) { controller = c; c.enqueue(1); c.enqueue(2); } });
  const reader = stream.getReader();
  console.log(JSON.stringify(await reader.read()));
  await reader.cancel();
  console.log(JSON.stringify(await reader.read()), controller.desiredSize);
  try { controller.enqueue(3); } catch (e) { console.log('threw', e.name); }
}
