export const options = { scenarios: { p: { executor: 'per-vu-iterations', vus: 3, iterations: 4 } } };
export default function () {}
