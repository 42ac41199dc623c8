import { Counter, Trend } from 'k6/metrics';
const mine = new Counter('mine');
new Trend('unused');
export const options = { iterations: 2, thresholds: { 'mine{a:b}': [], 'unused{x:y}': [], checks: [], iterations: ['count>0'] } };
export default function () { mine.add(1, { a: 'c' }); }
