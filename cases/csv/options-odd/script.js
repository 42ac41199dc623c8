import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('one.csv');
for (const options of [undefined, null, {}, { unknown: 1 }, 5, 'text', [], true]) {
  try { const rows = await csv.parse(file, options); console.log(JSON.stringify(options), rows.length); } catch (e) { console.log(JSON.stringify(options), 'threw'); }
}
export default function () {}
