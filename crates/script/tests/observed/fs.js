import { open, SeekMode } from 'k6/experimental/fs';

function show(value) {
  return typeof value + ' ' + JSON.stringify(value);
}
// The log must not depend on the folder's location.
const bare = (text) => text.replace(/"[^"]*observed/g, '"');
async function observe(name, body) {
  try {
    console.log(name + ' => ' + bare(show(await body())));
  } catch (e) {
    console.log(name + ' threw ' + e.name + ': ' + bare(e.message));
  }
}

const file = await open('./files/d.csv');
if (__VU == 0) {
  await observe('modes', () => [SeekMode.Start, SeekMode.Current, SeekMode.End]);
  await observe('missing', () => open('./files/nope'));
  await observe('empty', () => open(''));
  await observe('nothing', () => open());
  await observe('folder', () => open('./files'));
}

export default async function () {
  await observe('path', () => file.path);
  await observe('stat', () => file.stat());
  const into = new Uint8Array(10);
  const text = () => String.fromCharCode(...into);
  await observe('read', async () => [await file.read(into), text()]);
  await observe('read on', async () => [await file.read(into), text()]);
  await observe('seek', () => file.seek(2, SeekMode.Start));
  await observe('read there', async () => [await file.read(into), text()]);
  await observe('seek back', () => file.seek(-2, SeekMode.Current));
  await observe('seek end', () => file.seek(-3, SeekMode.End));
  await observe('read end', () => file.read(into));
  await observe('read beyond', () => file.read(into));
  await observe('seek the very end', () => file.seek(0, SeekMode.End));
  await observe('read the very end', () => file.read(into));
  await observe('seek before the start', () => file.seek(-61, SeekMode.End));
  await observe('seek back before the start', () => file.seek(-100, SeekMode.Current));
  await observe('seek to the size', () => file.seek(60, SeekMode.Start));
  await observe('seek before', () => file.seek(-1, SeekMode.Start));
  await observe('seek beyond', () => file.seek(1000, SeekMode.Start));
  await observe('seek behind', () => file.seek(3, SeekMode.End));
  await observe('seek how', () => file.seek(1, 9));
  await observe('seek nowhere', () => file.seek());
  await observe('seek text', () => file.seek('a', 0));
  await observe('seek without mode', () => file.seek(1));
  await observe('read nothing', () => file.read());
  await observe('read into buffer', () => file.read(new ArrayBuffer(3)));
  await observe('read into units', () => file.read(new Uint16Array(3)));
  await observe('open here', () => open('./files/d.csv'));
}
