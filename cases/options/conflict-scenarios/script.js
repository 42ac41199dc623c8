export const options = { duration: '1s', scenarios: { a: { executor: 'shared-iterations' } } };
export default function () {}
