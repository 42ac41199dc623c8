import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
export const options = { iterations: 2 };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export default async function () {
  const { tags, metadata } = exec.vu.metrics;
  console.log(__ITER, tags.step, tags.late, metadata.note);
  tags.step = 'one';
  metadata.note = 'before';
  seen.add(1);
  const side = pause(10).then(() => { seen.add(2); tags.step = 'side'; metadata.note = 'side'; delete tags.late; });
  await pause(1);
  tags.late = 'yes';
  tags.step = 'two';
  seen.add(3);
  await side;
  seen.add(4);
  try { await Promise.reject(new Error('on purpose')); } catch { metadata.note = 'caught'; seen.add(5); } finally { delete metadata.note; seen.add(6); }
  console.log(tags.step, tags.late, metadata.note, exec.vu.tags.step);
}
