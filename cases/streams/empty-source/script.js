import { ReadableStream } from 'k6/experimental/streams';
export default function () {
  for (const values of [[], [undefined], [{}], [null], [5], ['text'], [{ start: 5 }], [{ pull: 'x' }], [{ cancel: {} }], [{ type: 'bytes' }], [{ type: 'other' }], [{ type: undefined }], [{ start: null }]]) {
    try { const s = new ReadableStream(...values); console.log(JSON.stringify(values[0]), s.locked); } catch (e) { console.log(JSON.stringify(values[0]), 'threw', e.name); }
  }
}
