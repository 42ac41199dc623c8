export const options = { scenarios: { a: { executor: 'ramping-vus', startVUs: 3, gracefulRampDown: '2s', stages: [{ target: 10, duration: '1m' }, { target: 10, duration: 0 }, { target: 0, duration: '30s' }] } } };
export default function () {}
