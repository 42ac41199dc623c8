import { open, SeekMode } from 'k6/experimental/fs';
const file = await open('data.txt');
async function attempt(name, body) { try { console.log(name, await body()); } catch (e) { console.log(name, 'threw', e.name); } }
export default async function () {
  const one = new Uint8Array(1);
  const next = async () => { const n = await file.read(one); return n === null ? 'end' : String.fromCharCode(one[0]); };
  console.log(JSON.stringify(SeekMode));
  for (const [offset, mode] of [[3, SeekMode.Start], [1, SeekMode.Current], [-2, SeekMode.Current], [-1, SeekMode.End], [0, SeekMode.Start]]) await attempt(`${offset} ${mode}`, async () => [await file.seek(offset, mode), await next()].join());
  for (const values of [[-1, SeekMode.Start], [1, SeekMode.End], [100, SeekMode.Start], [-100, SeekMode.Current], [1], [1, 9], ['x', 0], [null, 0], [1.5, 0], []]) await attempt(JSON.stringify(values), () => file.seek(...values));
}
