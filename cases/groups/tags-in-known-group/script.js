import { check, group } from 'k6';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
export default function () {
  for (const round of ['one', 'two']) {
    group('outer', () => {
      group('inner', () => {
        seen.add(1);
        if (round === 'two') exec.vu.metrics.tags.round = round;
        seen.add(2);
        console.log(exec.vu.metrics.tags.group, Object.keys(exec.vu.metrics.tags).sort().join());
      });
      group('inner', () => seen.add(3));
      seen.add(4);
    });
    group('outer', () => { exec.vu.metrics.metadata.note = round; check(1, { fine: true }); });
    seen.add(5);
  }
}
