import { Counter } from 'k6/metrics';
const c = new Counter('c1');
export const options = { thresholds: { c1: ['count<5', 'count<=3', 'count>2', 'count>=3', 'count==3', 'count===3', 'count!=4', ' count > 1 ', 'count>2.5', 'count<1e3', 'count>-1'] } };
export default function () { c.add(3); }
