import { sleep } from 'k6';
export const options = { scenarios: { p: { executor: 'per-vu-iterations', vus: 1, iterations: 5, maxDuration: '500ms', gracefulStop: '5s' } } };
export default function () { sleep(0.35); }
