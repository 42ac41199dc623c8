import { even } from './even.js';
export default function () { console.log(even(10), even(7)); }
