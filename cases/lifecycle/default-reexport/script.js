export { default, setup } from './main.js';
export * from './options.js';
