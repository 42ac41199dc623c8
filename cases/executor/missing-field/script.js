export const options = { scenarios: { a: { executor: 'constant-vus', vus: 4 } } };
export default function () {}
