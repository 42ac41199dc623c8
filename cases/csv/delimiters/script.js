import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const semi = await csv.parse(await open('semi.csv'), { delimiter: ';' });
const tabs = await csv.parse(await open('tabs.tsv'), { delimiter: '\t' });
const pipe = await csv.parse(await open('semi.csv'), { delimiter: '|' });
export default function () {
  console.log(JSON.stringify(semi), JSON.stringify(tabs), JSON.stringify(pipe));
}
