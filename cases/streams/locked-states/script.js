import { ReadableStream } from 'k6/experimental/streams';
function attempt(name, body) { try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); } }
export default function () {
  const stream = new ReadableStream();
  console.log(stream.locked);
  const reader = stream.getReader();
  console.log(stream.locked);
  attempt('again', () => stream.getReader());
  attempt('release', () => reader.releaseLock());
  console.log(stream.locked);
  attempt('release twice', () => reader.releaseLock());
  attempt('new reader', () => typeof stream.getReader().read);
  attempt('set', () => { stream.locked = false; return stream.locked; });
}
