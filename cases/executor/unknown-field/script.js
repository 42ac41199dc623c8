export const options = { scenarios: { a: { executor: 'shared-iterations', users: 4 } } };
export default function () {}
