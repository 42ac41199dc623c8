import { sleep } from 'k6';
export const options = { scenarios: { e: { executor: 'externally-controlled', vus: 2, maxVUs: 4, duration: '1s' } } };
export default function () { sleep(0.1); }
