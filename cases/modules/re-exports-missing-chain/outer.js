export { absent, other as renamed, Counter } from './inner.js';
