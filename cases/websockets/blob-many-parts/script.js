import { Blob } from 'k6/websockets';
export default async function () {
  const inner = new Blob(['in', 'ner']);
  const blob = new Blob(['a', inner, new Uint8Array([98]), new Uint8Array([99, 100]).buffer, inner.slice(0, 2), '€']);
  console.log(blob.size, await blob.text());
  const view = new Uint8Array([1, 2, 3, 4, 5]).subarray(1, 3);
  console.log(new Blob([view]).size, (await new Blob([view]).bytes()).join());
}
