import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 1, iterations: 5, maxDuration: '1s', gracefulStop: '5s' } } };
export default function () { sleep(0.7); console.log(`done ${__ITER}`); }
