import { open } from 'k6/experimental/fs';
const file = await open('data.txt');
export default async function () {
  const buffer = new Uint8Array(4);
  let all = '';
  for (;;) {
    const count = await file.read(buffer);
    if (count === null) break;
    console.log(count, buffer.join());
    all += String.fromCharCode(...buffer.subarray(0, count));
  }
  console.log(JSON.stringify(all), await file.read(buffer));
}
