import { two } from './two.js';
export function one() { return 'one'; }
export function both() { return one() + two(); }
