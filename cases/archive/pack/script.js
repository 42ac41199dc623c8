import { check } from 'k6';
import { one } from './lib/one.js';
const words = open('./lib/words.txt');
const bytes = open('bytes.bin', 'b');
export const options = { vus: 2, iterations: 4, thresholds: { checks: ['rate>0.9'] }, tags: { a: 'b' } };
export default function () { check(one, { 'is one': (n) => n === 1 && words.length > 0 && bytes.byteLength === 3 }); }
