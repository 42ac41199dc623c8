import { Counter, Gauge, Trend } from 'k6/metrics';
const a = new Counter('same'), b = new Counter('same');
try { new Gauge('same'); } catch (e) { if (__VU === 0) console.log(String(e.message || e)); }
new Trend('timed', true);
try { new Trend('timed'); } catch (e) { if (__VU === 0) console.log(String(e.message || e)); }
export default function () { a.add(1); b.add(2); }
