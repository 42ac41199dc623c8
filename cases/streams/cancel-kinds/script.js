import { ReadableStream } from 'k6/experimental/streams';
async function attempt(name, body) { try { console.log(name, await body()); } catch (e) { console.log(name, 'threw', e && e.name, e && e.message); } }
export default async function () {
  await attempt('plain', () => new ReadableStream().cancel());
  await attempt('reason', () => new ReadableStream({ cancel(reason) { console.log('reason', JSON.stringify(reason)); return 'ignored'; } }).cancel({ a: 1 }));
  await attempt('throws', () => new ReadableStream({ cancel() { throw new RangeError('no'); } }).cancel());
  await attempt('rejects', () => new ReadableStream({ async cancel() { throw new RangeError('never'); } }).cancel());
  await attempt('by reader', async () => { const r = new ReadableStream({ cancel: console.log }).getReader(); await r.cancel('why'); return JSON.stringify(await r.read()); });
  await attempt('locked', () => { const s = new ReadableStream(); s.getReader(); return s.cancel(); });
  await attempt('closed', () => new ReadableStream({ start(c) { c.close(); }, cancel() { console.log('never'); } }).cancel());
  await attempt('failed', () => new ReadableStream({ start(c) { c.error(new Error('was broken')); } }).cancel());
}
