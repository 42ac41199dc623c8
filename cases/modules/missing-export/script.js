import { nothing } from './lib.js';
export default function () { console.log(nothing); }
