import def, { a, b as renamed, default as again } from './lib.js';
import * as all from './lib.js';
export { a as exported } from './lib.js';
export default function () {
  console.log(def(), a, renamed, again === def, Object.keys(all).join(), all[Symbol.toStringTag]);
  try { all.a = 5; console.log('set'); } catch (e) { console.log(e.name); }
  try { a = 5; } catch (e) { console.log(e.name); }
}
