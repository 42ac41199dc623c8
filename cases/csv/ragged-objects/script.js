import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('ragged.csv');
try { const rows = await csv.parse(file, { asObjects: true }); for (const row of rows) console.log(JSON.stringify(row)); } catch (e) { console.log('threw'); }
export default function () {}
