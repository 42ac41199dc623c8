import { Counter } from 'k6/metrics';
for (const name of ['ok_name', 'a', '1st', 'with-dash', 'with space', '_under', 'x'.repeat(128), 'x'.repeat(130), 'ünï', '']) {
  try { new Counter(name); if (__VU === 0) console.log('allowed', name.length, name.slice(0, 12)); } catch (e) { if (__VU === 0) console.log('refused', name.length, name.slice(0, 12), String(e.message || e).slice(0, 80)); }
}
export default function () {}
