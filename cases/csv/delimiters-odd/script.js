import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('one.csv');
for (const delimiter of [';;', '"', '\n', 5, null, undefined, 'é']) {
  try { const rows = await csv.parse(file, { delimiter }); console.log(JSON.stringify(delimiter), JSON.stringify(rows[0])); } catch (e) { console.log(JSON.stringify(delimiter), 'threw'); }
}
export default function () {}
