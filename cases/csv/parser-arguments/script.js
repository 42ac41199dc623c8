import csv from 'k6/experimental/csv';
for (const values of [[], [null], [undefined], ['people.csv'], [{}], [5]]) {
  try { new csv.Parser(...values); console.log(JSON.stringify(values), 'made'); } catch (e) { console.log(JSON.stringify(values), 'threw', e.name); }
}
export default function () {}
