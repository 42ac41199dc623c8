import { absent, present } from './outer.js';
import { missing, other } from './stars.js';
import fallback from './default.js';
export default function () { console.log(String(absent), present, String(missing), other, JSON.stringify(fallback)); }
