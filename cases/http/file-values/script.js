import http from 'k6/http';
export default function () {
  for (const values of [['text'], ['text', 'a.txt'], ['text', 'a.txt', 'a/b'], [new Uint8Array([1]).buffer, 'b.bin'], [new Uint8Array([1, 2])], [''], ['x', ''], ['x', null, null]]) {
    try { const f = http.file(...values); console.log(JSON.stringify(values), typeof f.data, f.filename.length > 15 ? 'made up' : f.filename, f.content_type); } catch (e) { console.log(JSON.stringify(values), 'threw', e.name); }
  }
  for (const values of [[], [null], [5], [{}], [[1]]]) {
    try { http.file(...values); console.log('made'); } catch (e) { console.log(JSON.stringify(values), 'threw', e.name); }
  }
}
