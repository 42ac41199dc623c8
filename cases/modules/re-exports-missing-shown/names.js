export { absent as a } from 'k6/http';
export { absent as b } from 'k6/metrics';
export { absent as c } from './common.js';
export * as all from 'k6/metrics';
