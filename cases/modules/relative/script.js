import { name } from './lib/names.js';
import other, { deep as renamed } from './lib/deep/other.js';
import * as all from './lib/names.js';
export default function () { console.log(name, other(), renamed, Object.keys(all).sort().join()); }
