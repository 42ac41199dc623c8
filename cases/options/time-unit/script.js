import { Trend } from 'k6/metrics';
const t = new Trend('mine', true);
export default function () { t.add(12.5); }
