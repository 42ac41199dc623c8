export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 0 } } };
export default function () {}
