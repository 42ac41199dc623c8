import { ReadableStream, CountQueuingStrategy } from 'k6/experimental/streams';
export default function () {
  for (const strategy of [{ highWaterMark: -1 }, { highWaterMark: NaN }, { highWaterMark: 'x' }, { highWaterMark: '3' }, { highWaterMark: null }, { size: 5 }, { size: null }, null, 5]) {
    try { new ReadableStream({}, strategy); console.log(JSON.stringify(strategy), 'made'); } catch (e) { console.log(JSON.stringify(strategy), 'threw', e.name); }
  }
  for (const values of [[], [{}], [null], [5], [{ highWaterMark: 'x' }], [{ highWaterMark: -1 }]]) {
    try { console.log(JSON.stringify(values), new CountQueuingStrategy(...values).highWaterMark); } catch (e) { console.log(JSON.stringify(values), 'threw', e.name); }
  }
}
