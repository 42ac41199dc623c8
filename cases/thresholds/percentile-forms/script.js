import { Trend } from 'k6/metrics';
const t = new Trend('t1');
export const options = { thresholds: { t1: ['p(0)==1', 'p(100)==3', 'p(50)==2', 'p(99.9)<3', 'med==2', 'avg==2', 'min==1', 'max==3'] } };
export default function () { for (const v of [1, 2, 3]) t.add(v); }
