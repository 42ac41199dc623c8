export default function () {
  try { require('./late.js'); } catch (e) { console.log('threw', String(e.message || e).split('"')[0]); }
}
