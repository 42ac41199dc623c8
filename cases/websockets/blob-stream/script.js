import { Blob } from 'k6/websockets';
const textOf = (value) => (typeof value === 'string' ? value : String.fromCharCode(...value));
export default async function () {
  for (const parts of [[], ['abc'], ['a'.repeat(5000), new Uint8Array([98])]]) {
    const stream = new Blob(parts).stream();
    console.log(typeof stream, stream.locked);
    const reader = stream.getReader();
    let all = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      all += textOf(value);
    }
    console.log(all.length, all.slice(-3), stream.locked);
  }
}
