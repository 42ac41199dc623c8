import { get, absent } from './http.js';
import { Counter, missing } from './metrics.js';
export default function () { console.log(typeof get, String(absent), typeof Counter, String(missing)); }
