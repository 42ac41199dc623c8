import { open } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
const rows = await csv.parse(await open('one.csv'));
function attempt(name, body) { try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); } }
export default function () {
  attempt('set', () => { rows[0][0] = 'x'; return rows[0][0]; });
  attempt('push', () => rows[0].push('x'));
  attempt('row', () => { rows[0] = ['y']; return rows[0][0]; });
  attempt('same', () => rows[0] === rows[0]);
  attempt('map', () => rows.map((row) => row.length).join());
}
