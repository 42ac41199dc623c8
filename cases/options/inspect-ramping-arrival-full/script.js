export const options = { scenarios: { a: { executor: 'ramping-arrival-rate', startRate: 5, timeUnit: '1s', preAllocatedVUs: 1, maxVUs: 9, stages: [{ target: 10, duration: '1m' }, { target: 0, duration: '30s' }] } } };
export default function () {}
