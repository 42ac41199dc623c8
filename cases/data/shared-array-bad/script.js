import { SharedArray } from 'k6/data';
for (const make of [() => new SharedArray('a', () => 'text'), () => new SharedArray('b', () => ({})), () => new SharedArray('c'), () => new SharedArray('', () => []), () => new SharedArray('d', async () => []), () => new SharedArray('e', () => { throw new Error('inside'); }), () => new SharedArray('f', [1])]) {
  try { make(); if (__VU === 0) console.log('allowed'); } catch (e) { if (__VU === 0) console.log(String(e.message || e).split(',')[0]); }
}
export default function () { new SharedArray('late', () => []); }
