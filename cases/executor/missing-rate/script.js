export const options = { scenarios: { a: { executor: 'constant-arrival-rate', duration: '1s' } } };
export default function () {}
