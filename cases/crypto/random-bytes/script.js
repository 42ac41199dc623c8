import { randomBytes } from 'k6/crypto';
export default function () {
  for (const size of [1, 16, 100000, 0, -1, 1.5, '8', 'x', null, undefined, true, NaN]) {
    try { const bytes = randomBytes(size); console.log(String(size), bytes instanceof ArrayBuffer, bytes.byteLength); } catch (e) { console.log(String(size), 'threw', e.name); }
  }
  const [a, b] = [new Uint8Array(randomBytes(16)).join(), new Uint8Array(randomBytes(16)).join()];
  console.log(a !== b);
}
