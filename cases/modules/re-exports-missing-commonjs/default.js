export { default } from './common.js';
