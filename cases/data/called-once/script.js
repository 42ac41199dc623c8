import { SharedArray } from 'k6/data';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 3, iterations: 1 } } };
const rows = new SharedArray('rows', () => { console.log('called'); return [1, 2, 3]; });
export default function () { if (rows[__VU - 1] !== __VU) console.log('differs'); }
