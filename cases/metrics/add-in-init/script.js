import { Counter } from 'k6/metrics';
const c = new Counter('early');
try { c.add(1); } catch (e) { if (__VU === 0) console.log(String(e.message || e)); }
export default function () { c.add(1); }
