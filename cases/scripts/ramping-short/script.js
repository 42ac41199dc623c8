import { check, sleep } from 'k6';
export const options = { stages: [{ duration: '200ms', target: 2 }, { duration: '100ms', target: 0 }], thresholds: { checks: ['rate>0.9'] } };
export default function () { check(0, { 'is true': (n) => n === 1 }); sleep(0.05); }
