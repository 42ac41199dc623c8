import { check } from 'k6';
import { Counter, Trend } from 'k6/metrics';
const c = new Counter('mine'), t = new Trend('sizes');
export const options = { thresholds: { mine: ['count>100'] } };
export default function () { check(1, { ok: true, no: false }); c.add(3); t.add(7); }
