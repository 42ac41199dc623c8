import { check, group } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export default async function () {
  const { tags } = exec.vu.metrics;
  const returned = group('a', () => {
    tags.in = 'a';
    seen.add(1);
    return pause(20).then(() => { seen.add(2); check(1, { 'in then': true }); return tags.group; });
  });
  tags.in = 'main';
  console.log(typeof returned.then, JSON.stringify(await returned));
  seen.add(3);
  const work = async (name) => { tags.worker = name; seen.add(4); await pause(name === 'x' ? 5 : 15); seen.add(5); };
  await Promise.all([work('x'), work('y')]);
  group('timers', () => { setTimeout(() => { seen.add(6); tags.late = 'yes'; }, 5); });
  await pause(30);
  seen.add(7);
  delete tags.worker;
  try { group('refused', async () => {}); } catch (error) { console.log(error.name); }
}
