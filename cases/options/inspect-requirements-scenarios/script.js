export const options = { scenarios: { a: { executor: 'constant-vus', vus: 3, duration: '10s' }, b: { executor: 'ramping-arrival-rate', preAllocatedVUs: 2, maxVUs: 9, startTime: '5s', stages: [{ target: 5, duration: '20s' }] }, c: { executor: 'per-vu-iterations', vus: 4, startTime: '1m', maxDuration: '30s' } } };
export default function () {}
