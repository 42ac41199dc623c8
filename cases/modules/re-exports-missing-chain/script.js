import { absent, renamed, Counter } from './outer.js';
export default function () { console.log(String(absent), String(renamed), typeof Counter); }
