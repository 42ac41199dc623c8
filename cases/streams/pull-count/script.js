import { ReadableStream } from 'k6/experimental/streams';
const later = () => new Promise((done) => setTimeout(done, 5));
export default async function () {
  for (const highWaterMark of [0, 1, 2]) {
    let pulls = 0;
    const stream = new ReadableStream({ pull(c) { pulls += 1; c.enqueue(pulls); } }, { highWaterMark });
    await later();
    const before = pulls;
    const reader = stream.getReader();
    await reader.read();
    await later();
    console.log(highWaterMark, before, pulls);
  }
}
