import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('lines.csv');
const all = [];
for (const options of [{ fromLine: 1 }, { toLine: 2 }, { fromLine: 1, toLine: 3 }, { fromLine: 2, toLine: 2 }, { fromLine: 0, toLine: 0 }, { toLine: 99 }, { fromLine: 4 }, { fromLine: 5 }, { fromLine: 3, toLine: 1 }, { fromLine: -1 }, { toLine: -1 }]) {
  try { const rows = await csv.parse(file, options); all.push(JSON.stringify(options) + ' ' + rows.map((row) => row[0]).join()); } catch (e) { all.push(JSON.stringify(options) + ' threw'); }
}
export default function () { all.forEach((line) => console.log(line)); }
