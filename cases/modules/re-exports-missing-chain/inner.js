export { absent, absent as other, Counter } from 'k6/metrics';
