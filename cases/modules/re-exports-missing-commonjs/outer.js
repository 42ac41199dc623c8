export { absent, present } from './common.js';
