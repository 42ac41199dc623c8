import all, { a, renamed } from './all.js';
import * as star from './all.js';
export default function () { console.log(all, a, renamed, Object.keys(star).sort().join(), star.default); }
