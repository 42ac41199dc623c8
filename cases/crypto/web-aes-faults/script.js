async function attempt(name, body) { try { await body(); console.log(name, 'went well'); } catch (e) { console.log(name, 'threw', e.name); } }
export default async function () {
  const { subtle } = crypto;
  for (const length of [0, 15, 17, 64]) await attempt('key of ' + length, () => subtle.importKey('raw', new Uint8Array(length), 'AES-CBC', true, ['encrypt']));
  for (const length of [0, 100, 192, 512, undefined]) await attempt('generated ' + length, () => subtle.generateKey({ name: 'AES-CBC', length }, true, ['encrypt']));
  const key = await subtle.importKey('raw', new Uint8Array(16), 'AES-CBC', false, ['encrypt', 'decrypt']);
  await attempt('short vector', () => subtle.encrypt({ name: 'AES-CBC', iv: new Uint8Array(8) }, key, new Uint8Array(3)));
  await attempt('no vector', () => subtle.encrypt({ name: 'AES-CBC' }, key, new Uint8Array(3)));
  await attempt('other mode', () => subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, key, new Uint8Array(3)));
  await attempt('export', () => subtle.exportKey('raw', key));
  await attempt('unknown mode', () => subtle.generateKey({ name: 'AES-XYZ', length: 128 }, true, ['encrypt']));
}
