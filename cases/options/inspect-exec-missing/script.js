export const options = { scenarios: { a: { executor: 'shared-iterations', exec: 'nothing' } } };
export default function () {}
