import { n } from './counted.js';
export const a = n;
