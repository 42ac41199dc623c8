export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 5, iterations: 2 } } };
export default function () {}
