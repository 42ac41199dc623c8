export const options = { minIterationDuration: '10s', scenarios: { c: { executor: 'constant-vus', vus: 1, duration: '300ms', gracefulStop: '200ms' } } };
export default function () { console.log('once'); }
