import { sleep } from 'k6';
export const options = { scenarios: { c: {
  executor: 'constant-arrival-rate', rate: 20, duration: '1s', preAllocatedVUs: 2, maxVUs: 2,
} } };
export default function () { sleep(0.4); }
