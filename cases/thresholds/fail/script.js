import { Counter, Trend } from 'k6/metrics';
const c = new Counter('c_all'), t = new Trend('t_all', true);
export const options = { thresholds: { c_all: ['count>100', 'count<100'], t_all: ['p(95)<10'] } };
export default function () { c.add(1); t.add(2500); }
