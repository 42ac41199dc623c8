import { sleep } from 'k6';
export const options = { scenarios: { r: {
  executor: 'ramping-vus', startVUs: 2, gracefulRampDown: '1s', gracefulStop: '2s',
  stages: [{ duration: '300ms', target: 2 }, { duration: '0s', target: 1 }, { duration: '300ms', target: 1 }],
} } };
export default function () { sleep(0.05); }
