import { one, both } from './one.js';
import { two } from './two.js';
export default function () { console.log(one(), two(), both()); }
