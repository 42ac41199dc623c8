import { sleep } from 'k6';
export const options = { scenarios: { c: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '3s' } } };
export default function () { sleep(1.3); console.log('ended'); }
