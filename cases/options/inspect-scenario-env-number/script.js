export const options = { scenarios: { a: { executor: 'shared-iterations', env: { N: 5 } } } };
export default function () {}
