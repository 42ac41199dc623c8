import { sleep } from 'k6';
export const options = { scenarios: { c: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '0s' } } };
export default function () { sleep(3); }
