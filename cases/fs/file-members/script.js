import { open } from 'k6/experimental/fs';
const show = (what, value) => {
  const listed = [];
  for (const name in value) listed.push(`${name} ${typeof value[name]}`);
  console.log(what, Object.keys(value).join(), '|', listed.join(), '|', Object.getOwnPropertyNames(value).length);
  console.log(what, JSON.stringify(value), '|', Object.entries({ ...value }).map(([name, own]) => `${name} ${typeof own}`).join());
};
const file = await open('text.txt');
export default async function () {
  show('file', file);
  const { stat, read, seek } = file, buffer = new Uint8Array(4);
  show('info', await stat());
  console.log(await read(buffer), String.fromCharCode(...buffer), await seek(0, 0));
  console.log(await { ...file }.read(buffer), String.fromCharCode(...buffer));
}
