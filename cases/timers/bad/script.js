export default function () {
  for (const make of [() => setTimeout(() => console.log('no time')), () => setTimeout(() => console.log('negative'), -5)]) {
    try { make(); } catch (e) { console.log('threw', String(e.message || e)); }
  }
  try { setTimeout(); } catch (e) { console.log('threw', String(e.message || e)); }
}
