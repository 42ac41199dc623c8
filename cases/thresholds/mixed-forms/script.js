import { Counter } from 'k6/metrics';
const c = new Counter('mine');
export const options = { thresholds: { mine: ['count>0', { threshold: 'count<2', abortOnFail: false }] } };
export default function () { c.add(1); c.add(1); }
