export const options = { scenarios: { a: { executor: 'ramping-vus', stages: [] } } };
export default function () { console.log('never'); }
