import { sleep } from 'k6';
export const options = { scenarios: { c: {
  executor: 'constant-arrival-rate', rate: 10, duration: '1s', preAllocatedVUs: 1, maxVUs: 10,
} } };
export default function () { sleep(0.25); }
