import { open } from 'k6/experimental/fs';
for (const path of ['', 'nothing.txt', '.', undefined, null, 5, {}, 'data.txt']) {
  try { const file = await open(path); console.log(JSON.stringify(path), typeof file.read); } catch (e) { console.log(JSON.stringify(path), 'threw', e.name); }
}
export default async function () {
  try { await open('data.txt'); console.log('opened'); } catch (e) { console.log('threw', e.name); }
}
