import { ReadableStream } from 'k6/experimental/streams';
export default function () {
  for (const options of [undefined, null, {}, { mode: undefined }, { mode: 'byob' }, { mode: 'other' }, { mode: null }, 5, 'byob']) {
    try { console.log(JSON.stringify(options), typeof new ReadableStream().getReader(options).read); } catch (e) { console.log(JSON.stringify(options), 'threw', e.name); }
  }
}
