import { ReadableStream } from 'k6/experimental/streams';
export default async function () {
  for (const value of [new Error('e'), 'text', 5, null, undefined, { a: 1 }]) {
    try { await new ReadableStream({ start(c) { c.error(value); } }).getReader().read(); console.log('read'); } catch (e) { console.log(e === value, typeof e, e instanceof Error ? e.message : JSON.stringify(e)); }
  }
}
