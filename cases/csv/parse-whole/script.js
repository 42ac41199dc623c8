import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('people.csv');
const rows = await csv.parse(file);
export default function () {
  console.log(rows.length, JSON.stringify(rows[0]), JSON.stringify(rows[2]), rows[9], Array.isArray(rows[0]));
  for (const row of rows) console.log(row.join('|'));
}
