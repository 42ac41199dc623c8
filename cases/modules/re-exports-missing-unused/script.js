import { present } from './outer.js';
export default function () { console.log(present); }
