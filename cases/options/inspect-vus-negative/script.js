export const options = { scenarios: { a: { executor: 'constant-vus', vus: -1, duration: '1s' } } };
export default function () {}
