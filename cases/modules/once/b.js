import { n } from './counted.js';
export const b = n;
