import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
let n = 0;
for (const Kind of [Counter, Gauge, Rate, Trend]) for (const second of [undefined, true, false, null, 'x', 1]) {
  n += 1;
  try { const m = new Kind(`m_${n}`, second); if (__VU === 0) console.log(m.name, Object.keys(m).join(), m instanceof Kind, typeof m.add); } catch (e) { if (__VU === 0) console.log(n, 'threw', e.name); }
}
export default function () {}
