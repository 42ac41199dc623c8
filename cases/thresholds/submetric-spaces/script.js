import { Counter } from 'k6/metrics';
const c = new Counter('mine');
export const options = { thresholds: { 'mine{ a : "x" }': ['count==1'], "mine{b:'y'}": ['count==2'] } };
export default function () { c.add(1, { a: 'x' }); c.add(2, { b: 'y' }); }
