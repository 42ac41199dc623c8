import { ReadableStream } from 'k6/experimental/streams';
async function attempt(name, body) { try { console.log(name, JSON.stringify(await body())); } catch (e) { console.log(name, 'threw', e && e.name, e && e.message); } }
export default async function () {
  await attempt('throws', () => new ReadableStream({ start() { throw new RangeError('in start'); } }).locked);
  await attempt('rejects', () => new ReadableStream({ start() { return Promise.reject(new RangeError('later')); } }).getReader().read());
}
