async function attempt(name, body) { try { await body(); console.log(name, 'went well'); } catch (e) { console.log(name, 'threw', e.name); } }
const raw = new Uint8Array(16);
export default async function () {
  const { subtle } = crypto;
  await attempt('no hash', () => subtle.importKey('raw', raw, { name: 'HMAC' }, true, ['sign']));
  await attempt('bad hash', () => subtle.importKey('raw', raw, { name: 'HMAC', hash: 'MD5' }, true, ['sign']));
  await attempt('empty key', () => subtle.importKey('raw', new Uint8Array(0), { name: 'HMAC', hash: 'SHA-1' }, true, ['sign']));
  await attempt('no usages', () => subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-1' }, true, []));
  await attempt('other usage', () => subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-1' }, true, ['encrypt']));
  await attempt('bad usage', () => subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-1' }, true, ['dance']));
  await attempt('bad format', () => subtle.importKey('own', raw, { name: 'HMAC', hash: 'SHA-1' }, true, ['sign']));
  const verifier = await subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-1' }, false, ['verify']);
  await attempt('sign without usage', () => subtle.sign('HMAC', verifier, raw));
  await attempt('not extractable', () => subtle.exportKey('raw', verifier));
  await attempt('other algorithm', () => subtle.verify('ECDSA', verifier, raw, raw));
  await attempt('no key', () => subtle.sign('HMAC', {}, raw));
}
