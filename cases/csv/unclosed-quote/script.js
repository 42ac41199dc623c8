import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('bad.csv');
try { const rows = await csv.parse(file); console.log(rows.length); } catch (e) { console.log('threw'); }
export default function () {}
