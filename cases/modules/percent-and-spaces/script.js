import { a } from './with space.js';
import { b } from './ünï.js';
export default function () { console.log(a, b, open === undefined); }
