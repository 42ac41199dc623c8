import { Trend } from 'k6/metrics';
const t = new Trend('named');
export default function () { console.log(t.name, t instanceof Trend, JSON.stringify(t)); t.add(1); }
