import { sleep } from 'k6';
export const options = { scenarios: { a: { executor: 'constant-vus', duration: '1s', gracefulStop: '0s' } } };
export default function () { sleep(5); }
