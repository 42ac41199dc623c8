export default function () {
  try { undeclared = 1; console.log('set'); } catch (e) { console.log(e.name); }
  try { Object.freeze({ a: 1 }).a = 2; console.log('set'); } catch (e) { console.log(e.name); }
  try { delete Object.prototype; console.log('deleted'); } catch (e) { console.log(e.name); }
  console.log((function () { return this; })() === undefined, typeof arguments);
  try { (() => { 'x'.y = 1; })(); } catch (e) { console.log(e.name); }
  console.log(typeof new Function('return this')(), (0, eval)('typeof this'));
}
