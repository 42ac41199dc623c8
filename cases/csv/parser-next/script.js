import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('people.csv');
const parser = new csv.Parser(file);
export default async function () {
  for (let i = 0; i < 4; i++) { const { done, value } = await parser.next(); console.log(done, JSON.stringify(value), Array.isArray(value)); }
}
