import { Trend } from 'k6/metrics';
const t = new Trend('mine');
export default function () { for (let i = 1; i <= 4; i++) t.add(i); }
