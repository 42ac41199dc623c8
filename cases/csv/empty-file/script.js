import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const out = [];
for (const name of ['empty.csv', 'header.csv']) {
  for (const options of [{}, { asObjects: true }, { skipFirstLine: true }]) {
    try { out.push(name + ' ' + JSON.stringify(options) + ' ' + (await csv.parse(await open(name), options)).length); } catch (e) { out.push(name + ' ' + JSON.stringify(options) + ' threw'); }
  }
}
export default function () { out.forEach((line) => console.log(line)); }
