export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 3, iterations: 12, maxDuration: '5s' } } };
export default function () {}
