import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const file = await open('ragged.csv');
try { const rows = await csv.parse(file); console.log(rows.length, JSON.stringify(rows[1])); } catch (e) { console.log('threw'); }
export default function () {}
