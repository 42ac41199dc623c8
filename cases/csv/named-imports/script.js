import { parse, Parser } from 'k6/experimental/csv';
import * as all from 'k6/experimental/csv';
import { open } from 'k6/experimental/fs';
const rows = await parse(await open('one.csv'));
const parser = new Parser(await open('one.csv'));
export default async function () {
  console.log(Object.keys(all).sort().join(), rows.length, JSON.stringify((await parser.next()).value));
}
