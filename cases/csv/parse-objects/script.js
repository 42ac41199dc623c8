import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('people.csv');
const rows = await csv.parse(file, { asObjects: true });
export default function () {
  console.log(rows.length);
  for (const row of rows) console.log(Object.keys(row).sort().map((key) => `${key}=${row[key]}`).join(), typeof row.age);
}
