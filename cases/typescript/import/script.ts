import { double } from './lib/math.ts';
export default function () { console.log(double(21)); }
