import { open } from 'k6/experimental/fs';
const file = await open('data.txt');
export default async function () {
  for (const buffer of [undefined, null, 5, 'text', {}, [], new ArrayBuffer(2), new Uint16Array(2), new Uint8Array(0), new Uint8Array(2)]) {
    try { console.log(Object.prototype.toString.call(buffer), await file.read(buffer)); } catch (e) { console.log(Object.prototype.toString.call(buffer), 'threw', e.name); }
  }
}
