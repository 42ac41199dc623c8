export { default } from 'k6/http';
export { default as metrics } from 'k6/metrics';
export { default as k6 } from 'k6';
export * as names from 'k6/http';
