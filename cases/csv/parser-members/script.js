import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const parser = new csv.Parser(await open('rows.csv'), { skipFirstLine: true });
export default async function () {
  console.log(Object.keys(parser).join());
  const { next } = parser;
  console.log(JSON.stringify(await next()), JSON.stringify(await { ...parser }.next()));
}
