import { ReadableStream } from 'k6/experimental/streams';
export default async function () {
  const stream = new ReadableStream();
  const reader = stream.getReader();
  const read = reader.read();
  try { reader.releaseLock(); console.log('released', stream.locked); } catch (e) { console.log('threw', e.name); }
  const result = await Promise.race([read.then(() => 'read', (e) => 'rejected ' + e.name), new Promise((done) => setTimeout(() => done('still waiting'), 10))]);
  console.log(result);
}
