export default async function () {
  try { const m = await import('./lib.js'); console.log(m.a); } catch (e) { console.log('threw', e.name); }
}
