import { Blob } from 'k6/websockets';
export default async function () {
  const blob = new Blob(['abc'], { type: 'text/plain' });
  const { text, slice, arrayBuffer } = blob, copy = { ...blob };
  console.log(await text(), (await arrayBuffer()).byteLength, slice(1).size, await slice(0, 2).text());
  console.log(await copy.text(), copy.size, copy.type, (await copy.bytes()).length, await Object.create(blob).text());
}
