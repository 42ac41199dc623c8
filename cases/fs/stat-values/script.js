import { open } from 'k6/experimental/fs';
const file = await open('./sub/../data.txt');
export default async function () {
  const info = await file.stat();
  console.log(Object.keys(info).sort().join(), info.name, info.size, file.path.endsWith('/data.txt'));
}
