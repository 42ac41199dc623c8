import { Counter, Trend, Rate } from 'k6/metrics';
const c = new Counter('cc'), t = new Trend('tt'), r = new Rate('rr');
export default function () { c.add(-5); c.add(2); t.add(-10); t.add(-20.5); r.add(-1); r.add(2); }
