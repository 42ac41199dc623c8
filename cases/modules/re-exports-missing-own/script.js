import { absent } from './outer.js';
export default function () { console.log(absent); }
