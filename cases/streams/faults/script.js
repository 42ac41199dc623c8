import { ReadableStream, ReadableStreamDefaultReader } from 'k6/experimental/streams';
async function show(name, body) {
  try { console.log(name, JSON.stringify(await body())); } catch (e) { console.log(name, 'threw', e && e.name, e && e.message); }
}
export default async function () {
  let controller;
  const stream = new ReadableStream({ start(given) { controller = given; } });
  const reader = stream.getReader();
  await show('second reader', () => new ReadableStreamDefaultReader(stream));
  controller.close();
  await show('enqueue after close', () => controller.enqueue(1));
  await show('close twice', () => controller.close());
  reader.releaseLock();
  await show('read after release', () => reader.read());
  await show('cancel after release', () => reader.cancel());
  await show('error', () => new ReadableStream({ start(c) { c.error(new Error('broken')); } }).getReader().read());
  await show('error later', async () => { let c; const r = new ReadableStream({ start(given) { c = given; given.enqueue(1); } }).getReader(); c.error(new Error('late')); return r.read(); });
  await show('cancel', () => new ReadableStream({ cancel(reason) { console.log('cancelled', reason); } }).cancel('why'));
}
