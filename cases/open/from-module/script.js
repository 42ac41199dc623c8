import { read } from './lib/reader.js';
const text = read('./near.txt');
export default function () { console.log(JSON.stringify(text)); }
