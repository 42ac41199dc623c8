import { a } from './lib';
export default function () { console.log(a); }
