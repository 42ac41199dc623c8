import { Counter, Trend } from 'k6/metrics';
try { const c = new Counter('http_reqs'); if (__VU === 0) console.log('allowed', c.name); } catch (e) { if (__VU === 0) console.log(String(e.message || e)); }
try { new Trend('http_reqs'); } catch (e) { if (__VU === 0) console.log(String(e.message || e)); }
export default function () {}
