export const options = { scenarios: { a: { executor: 'shared-iterations', tags: { n: 5 } } } };
export default function () {}
