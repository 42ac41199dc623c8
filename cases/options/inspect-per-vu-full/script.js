export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 7, maxDuration: '1m' }, b: { executor: 'shared-iterations' } } };
export default function () {}
