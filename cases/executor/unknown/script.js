export const options = { scenarios: { a: { executor: 'constant-chaos' } } };
export default function () {}
