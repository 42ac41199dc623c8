import { group } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
export const options = { iterations: 2 };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export default async function () {
  seen.add(1);
  await group('a', () => pause(5).then(() => { group('b', () => { exec.vu.tags.round = `${__ITER}`; throw new Error('on purpose'); }); }));
}
