export const options = { scenarios: { a: { executor: 'fast' } } };
export default function () {}
