import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('lines.csv');
const all = [];
for (const options of [{ asObjects: true, toLine: 2 }, { asObjects: true, skipFirstLine: true }, { asObjects: true, fromLine: 1 }, { asObjects: true, fromLine: 2 }, { asObjects: false }]) {
  try { const rows = await csv.parse(file, options); all.push(JSON.stringify(options) + ' ' + JSON.stringify(rows)); } catch (e) { all.push(JSON.stringify(options) + ' threw'); }
}
export default function () { all.forEach((line) => console.log(line)); }
