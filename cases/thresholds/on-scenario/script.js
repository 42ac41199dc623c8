import { check, group } from 'k6';
export const options = {
  scenarios: { one: { executor: 'shared-iterations' }, two: { executor: 'shared-iterations' } },
  thresholds: {
    'iterations{scenario:one}': ['count==1'],
    'checks{check:inside}': ['rate==1'],
    'group_duration{group:::outer}': ['max<1000'],
    'checks{group:::outer}': ['rate<=1'],
  },
};
export default function () { group('outer', () => { check(1, { inside: true }); }); }
