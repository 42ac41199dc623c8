import { ReadableStream } from 'k6/experimental/streams';
async function show(name, body) {
  try { const value = await body(); console.log(name, Array.isArray(value) ? value.join() : value && JSON.stringify([value.value, value.done])); } catch (e) { console.log(name, 'threw', e && e.name, e && e.message); }
}
async function all(stream) {
  const reader = stream.getReader();
  const chunks = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return chunks;
    chunks.push(value);
  }
}
export default async function () {
  let controller;
  const stream = new ReadableStream({
    start(given) { controller = given; given.enqueue('a'); given.enqueue({ b: 1 }); },
    pull(given) { console.log('pull', given.desiredSize); },
    cancel(reason) { console.log('cancel', reason); },
  });
  console.log(stream.locked, controller.desiredSize);
  const reader = stream.getReader();
  console.log(stream.locked, typeof reader.closed);
  await show('first', () => reader.read());
  await show('second', () => reader.read());
  const waiting = reader.read();
  controller.enqueue(3);
  await show('waited', () => waiting);
  await show('locked', () => stream.getReader());
  controller.enqueue('last');
  controller.close();
  await show('last', () => reader.read());
  await show('end', () => reader.read());
  await show('closed', () => reader.closed);
  reader.releaseLock();
  console.log(stream.locked);
  await show('pulled', () => { let n = 0; return all(new ReadableStream({ pull(c) { c.enqueue(++n); if (n === 4) c.close(); } })); });
  await show('pulled later', () => { let n = 0; return all(new ReadableStream({ async pull(c) { await Promise.resolve(); c.enqueue(++n); if (n > 2) c.close(); } })); });
  await show('started later', () => all(new ReadableStream({ async start(c) { await Promise.resolve(); c.enqueue('x'); c.close(); } })));
}
