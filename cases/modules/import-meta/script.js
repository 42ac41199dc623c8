import { here } from './lib/here.js';
export default function () { console.log(here, import.meta.resolve('./x.js')); }
