import { Blob } from 'k6/websockets';
export default async function () {
  const blob = new Blob(['0123456789'], { type: 'a/b' });
  for (const bounds of [[], [3], [3, 5], [5, 5]]) {
    try { const part = blob.slice(...bounds); console.log(bounds.join(), part.size, await part.text(), JSON.stringify(part.type)); } catch (e) { console.log(bounds.join(), 'threw', e.name); }
  }
  console.log(JSON.stringify(blob.slice(0, 2, 'c/d').type), blob.size);
}
