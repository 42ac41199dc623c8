export const options = { scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', rate: 5 } } };
export default function () { console.log('never'); }
