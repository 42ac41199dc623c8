import { SharedArray } from 'k6/data';
const a = new SharedArray('same', () => [1, 2]);
const b = new SharedArray('same', () => [3]);
export default function () { console.log(a.length, b.length, b[0]); }
