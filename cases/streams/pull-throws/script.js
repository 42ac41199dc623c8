import { ReadableStream } from 'k6/experimental/streams';
async function attempt(name, body) { try { console.log(name, JSON.stringify(await body())); } catch (e) { console.log(name, 'threw', e && e.name, e && e.message); } }
export default async function () {
  await attempt('throws', () => new ReadableStream({ pull() { throw new TypeError('in pull'); } }).getReader().read());
  await attempt('rejects', () => new ReadableStream({ async pull() { throw new TypeError('async'); } }).getReader().read());
  await attempt('closed', () => new ReadableStream({ pull() { throw new TypeError('seen'); } }).getReader().closed);
}
