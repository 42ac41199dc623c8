export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '900ms' } } };
export default function () { console.log('never'); }
