import { open } from 'k6/experimental/fs';
const [one, two] = [await open('data.txt'), await open('data.txt')];
export const options = { iterations: 2 };
export default async function () {
  const buffer = new Uint8Array(3);
  await one.read(buffer);
  console.log(__ITER, 'one', buffer.join());
  if (__ITER === 1) { await two.read(buffer); console.log(__ITER, 'two', buffer.join()); }
}
