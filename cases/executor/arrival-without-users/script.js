export const options = { scenarios: { a: { executor: 'constant-arrival-rate', rate: 5, duration: '1s' } } };
export default function () { console.log('never'); }
