import { ReadableStream } from 'k6/experimental/streams';
import { Counter } from 'k6/metrics';
const chunks = new Counter('chunks_read');
function numbers(limit) {
  let current = 0;
  return new ReadableStream({ start(controller) { const step = () => { if (current === limit) return controller.close(); controller.enqueue(++current); setTimeout(step, 1); }; step(); } });
}
export default async function () {
  const reader = numbers(10).getReader();
  let sum = 0;
  while (true) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.add(1);
    sum += value;
  }
  console.log('sum', sum);
}
