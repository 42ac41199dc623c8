import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const parsers = [];
for (const options of [{ skipFirstLine: true }, { asObjects: true }, { fromLine: 2 }, { toLine: 0 }, { delimiter: ';' }, {}]) parsers.push([JSON.stringify(options), new csv.Parser(await open('people.csv'), options)]);
export default async function () {
  for (const [name, parser] of parsers) {
    const got = [];
    for (;;) { const { done, value } = await parser.next(); if (done) break; got.push(JSON.stringify(value)); }
    console.log(name, got.join(' '));
  }
}
