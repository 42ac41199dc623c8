export * from './parts.js';
export { b as renamed } from './parts.js';
export { default } from './parts.js';
