import { open } from 'k6/experimental/fs';
import csv, { Parser } from 'k6/experimental/csv';

async function observe(name, body) {
  try {
    console.log(name + ' => ' + JSON.stringify(await body()));
  } catch (e) {
    console.log(name + ' threw ' + (e && e.message));
  }
}
const file = (name) => open('./files/' + name + '.csv');
// Sorts the members, because k6 returns them in any order.
const sorted = (record) => (Array.isArray(record) ? record : Object.entries(record).sort());

const all = await csv.parse(await file('d'));
const objects = await csv.parse(await file('d'), { asObjects: true });
const parser = new Parser(await file('d'), { skipFirstLine: true });
const named = new csv.Parser(await file('d'), { asObjects: true });
if (__VU == 0) {
  for (const options of [
    { delimiter: ';' }, { delimiter: ';;' }, { delimiter: '"' }, { delimiter: '\n' },
    { fromLine: 1, toLine: 2 }, { fromLine: -1 }, { toLine: 0 }, { fromLine: 3, toLine: 1 }, { fromLine: 100 },
    { bogus: 1 }, { asObjects: true, skipFirstLine: true }, { asObjects: true, fromLine: 1 },
  ]) {
    await observe('d ' + JSON.stringify(options), async () => [...(await csv.parse(await file('d'), options))].map(sorted));
  }
  for (const name of ['m', 'crlf', 'bom', 'openq', 'ext', 'dup', 'empty', 'ql', 'sp', 'cr']) {
    for (const options of [{ asObjects: true }, { skipFirstLine: true }, { fromLine: 1 }, { fromLine: 2 }, { toLine: 1 }]) {
      await observe(name + ' ' + JSON.stringify(options), async () =>
        [...(await csv.parse(await file(name), options))].map(sorted));
    }
  }
  await observe('semicolons', async () => [...(await csv.parse(await file('semi'), { delimiter: ';' }))]);
  await observe('tabs', async () => [...(await csv.parse(await file('tab'), { delimiter: '\t' }))]);
}

export default async function () {
  await observe('all', () => [all.length, Array.isArray(all), Object.isFrozen(all[0]), [...all]]);
  await observe('objects', () => [...objects].map(sorted));
  for (let i = 0; i < 5; i++) await observe('next', () => parser.next());
  for (let i = 0; i < 5; i++) {
    await observe('next named', async () => {
      const { done, value } = await named.next();
      return [done, sorted(value)];
    });
  }
  await observe('new here', () => new Parser(null));
}
