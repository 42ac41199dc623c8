export { absent } from './inner.js';
