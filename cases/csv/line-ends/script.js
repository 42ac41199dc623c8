import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const rows = await csv.parse(await open('ends.csv'));
export default function () { for (const row of rows) console.log(JSON.stringify(row)); }
