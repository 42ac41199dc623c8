import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };
const rows = await csv.parse(await open('people.csv'), { skipFirstLine: true });
export default function () { console.log(rows[(__VU - 1) % rows.length][0]); }
