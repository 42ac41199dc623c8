import { ReadableStream } from 'k6/experimental/streams';
async function attempt(name, body) { try { console.log(name, JSON.stringify(await body())); } catch (e) { console.log(name, 'threw', e && e.message); } }
export default async function () {
  let controller;
  const reader = new ReadableStream({ start(c) { controller = c; c.enqueue(1); c.enqueue(2); } }).getReader();
  await attempt('first', () => reader.read());
  controller.error(new Error('broken'));
  await attempt('second', () => reader.read());
  await attempt('third', () => reader.read());
  await attempt('enqueue', () => controller.enqueue(3));
  await attempt('error again', () => controller.error(new Error('other')));
  console.log(controller.desiredSize);
}
