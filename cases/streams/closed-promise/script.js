import { ReadableStream } from 'k6/experimental/streams';
async function outcome(name, promise) { try { console.log(name, await promise); } catch (e) { console.log(name, 'threw', e && e.name, e && e.message); } }
export default async function () {
  let c;
  const make = () => new ReadableStream({ start(given) { c = given; } });
  let reader = make().getReader();
  c.close();
  await outcome('closed', reader.closed);
  reader = make().getReader();
  c.error(new Error('broken'));
  await outcome('failed', reader.closed);
  reader = make().getReader();
  reader.releaseLock();
  await outcome('released', reader.closed);
  reader = make().getReader();
  await reader.cancel();
  await outcome('cancelled', reader.closed);
}
