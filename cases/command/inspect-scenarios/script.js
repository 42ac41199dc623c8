export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 5, duration: '1m', preAllocatedVUs: 2 }, b: { executor: 'per-vu-iterations', vus: 2, exec: 'other', startTime: '5s' } } };
export default function () {}
export function other() {}
