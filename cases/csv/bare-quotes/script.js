import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('bad.csv');
try { const rows = await csv.parse(file); console.log(__VU, rows.length); } catch (e) { console.log('threw', typeof e); }
export default function () {}
