import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
export const options = { iterations: 4 };
const parser = new csv.Parser(await open('people.csv'), { skipFirstLine: true });
export default async function () {
  const { done, value } = await parser.next();
  console.log(__ITER, done, JSON.stringify(value));
}
