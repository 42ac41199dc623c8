export const options = { scenarios: { one: { executor: 'per-vu-iterations', vus: 2, iterations: 1, maxDuration: '5s', gracefulStop: '1s' }, two: { executor: 'shared-iterations', vus: 1, iterations: 1, startTime: '100ms', exec: 'other' } } };
export default function () {}
export function other() {}
