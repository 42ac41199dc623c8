import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('lines.csv');
const all = [];
for (const options of [{ skipFirstLine: true }, { skipFirstLine: false }, { skipFirstLine: true, fromLine: 0 }, { skipFirstLine: true, fromLine: 2 }, { skipFirstLine: 'yes' }]) {
  try { const rows = await csv.parse(file, options); all.push(JSON.stringify(options) + ' ' + rows.map((row) => row[0]).join()); } catch (e) { all.push(JSON.stringify(options) + ' threw'); }
}
export default function () { all.forEach((line) => console.log(line)); }
