const hex = (b) => Array.from(new Uint8Array(b)).map((x) => x.toString(16).padStart(2, '0')).join('');
const bytes = (text) => new Uint8Array([...text].map((c) => c.charCodeAt(0)));
async function attempt(name, body) { try { console.log(name, await body()); } catch (e) { console.log(name, 'threw', e.name); } }
export default async function () {
  const { subtle } = crypto;
  const key = await subtle.importKey('raw', bytes('password'), 'PBKDF2', false, ['deriveBits', 'deriveKey']);
  for (const hash of ['SHA-1', 'SHA-256', 'SHA-512']) await attempt(hash, async () => hex(await subtle.deriveBits({ name: 'PBKDF2', salt: bytes('salt'), iterations: 2, hash }, key, 160)));
  for (const length of [0, 8, 7, 256, null]) await attempt('length ' + length, async () => (await subtle.deriveBits({ name: 'PBKDF2', salt: bytes('salt'), iterations: 1, hash: 'SHA-1' }, key, length)).byteLength);
  await attempt('no iterations', () => subtle.deriveBits({ name: 'PBKDF2', salt: bytes('salt'), iterations: 0, hash: 'SHA-1' }, key, 8));
  await attempt('key', async () => { const k = await subtle.deriveKey({ name: 'PBKDF2', salt: bytes('s'), iterations: 1, hash: 'SHA-256' }, key, { name: 'AES-GCM', length: 256 }, true, ['encrypt']); return hex(await subtle.exportKey('raw', k)); });
}
