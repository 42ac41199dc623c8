import { Blob } from 'k6/websockets';
async function attempt(name, body) {
  try { console.log(name, await body()); } catch (e) { console.log(name, 'threw', e.name); }
}

export default async function () {
  const blob = new Blob(['ab', new Uint8Array([99, 100]), new Uint8Array([101]).buffer, new Blob(['f'])], { type: 'Text/Plain' });
  console.log(blob.size, blob.type, ['size', 'type'].every((name) => Object.keys(blob).includes(name)), typeof blob, Object.prototype.toString.call(blob));
  await attempt('json', () => JSON.stringify(blob));
  await attempt('text', () => blob.text());
  await attempt('bytes', async () => new Uint8Array(await blob.arrayBuffer()).join());
  await attempt('typed', async () => (await blob.bytes()).join());
  await attempt('slice', () => blob.slice(1, 3).text());
  await attempt('slice type', () => blob.slice(0, 1, 'a/b').type);
  await attempt('empty', () => new Blob([]).size + new Blob([]).type);
  await attempt('nothing', () => new Blob().size);
  await attempt('text alone', () => new Blob('abc').size);
  await attempt('number inside', () => new Blob([5]).size);
  await attempt('null inside', () => new Blob([null]).size);
  await attempt('object inside', () => new Blob([{ a: 1 }]).size);
  await attempt('view', () => new Blob([new DataView(new ArrayBuffer(3))]).size);
  await attempt('typed array', () => new Blob([new Uint16Array([1, 2])]).size);
  await attempt('without new', () => Blob(['a']).size);
}
