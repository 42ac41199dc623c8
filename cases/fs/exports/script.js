import fs, { open } from 'k6/experimental/fs';
import * as all from 'k6/experimental/fs';
const file = await open('data.txt');
const buffer = new Uint8Array(100);
const count = await file.read(buffer);
export default async function () {
  console.log(Object.keys(all).sort().join(), typeof fs, count, await file.read(buffer));
}
