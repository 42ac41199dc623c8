import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('people.csv');
export default async function () {
  try { new csv.Parser(file); console.log('made'); } catch (e) { console.log('threw', e.name); }
  try { await csv.parse(file); console.log('parsed'); } catch (e) { console.log('threw', e.name); }
}
