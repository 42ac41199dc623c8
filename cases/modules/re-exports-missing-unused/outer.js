export { absent } from 'k6/http';
export { nothing } from './common.js';
export const present = 1;
