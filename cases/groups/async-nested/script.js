import { group } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export default async function () {
  const work = async (name, ms) => {
    group(name, () => seen.add(1));
    await pause(ms);
    group(name, () => {
      seen.add(2);
      group('inner', () => { setTimeout(() => group('timer', () => seen.add(3)), 1); });
      console.log(exec.vu.tags.group);
    });
    return name;
  };
  const outer = group('outer', () => Promise.all([work('x', 5), work('y', 40)]));
  console.log(exec.vu.tags.group === '', (await outer).join());
  await pause(60);
  seen.add(4);
}
