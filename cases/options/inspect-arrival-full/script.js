export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 30, timeUnit: '1m', duration: '2m', preAllocatedVUs: 2, maxVUs: 5, exec: 'other', env: { A: 'b' }, tags: { t: '1' }, startTime: '5s', gracefulStop: '1s' } } };
export function other() {}
