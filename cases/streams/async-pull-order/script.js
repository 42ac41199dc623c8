import { ReadableStream } from 'k6/experimental/streams';
export default async function () {
  let running = 0, most = 0, n = 0;
  const reader = new ReadableStream({ async pull(c) { running += 1; most = Math.max(most, running); await new Promise((done) => setTimeout(done, 2)); c.enqueue(++n); if (n === 4) c.close(); running -= 1; } }, { highWaterMark: 3 }).getReader();
  const got = [];
  for (;;) { const { done, value } = await reader.read(); if (done) break; got.push(value); }
  console.log(got.join(), most);
}
