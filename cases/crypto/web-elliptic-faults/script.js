const { subtle } = crypto;
async function attempt(name, body) {
  try {
    const value = await body();
    console.log(name, value instanceof ArrayBuffer ? 'bytes ' + value.byteLength : typeof value);
  } catch (e) {
    console.log(name, 'threw', e.name);
  }
}
export default async function () {
  const ec = (more) => ({ name: 'ECDSA', namedCurve: 'P-256', ...more });
  await attempt('curve', () => subtle.generateKey(ec({ namedCurve: 'P-999' }), true, ['sign']));
  await attempt('only verify', () => subtle.generateKey(ec(), true, ['verify']));
  await attempt('no usage', () => subtle.generateKey(ec(), true, []));
  await attempt('wrong usage', () => subtle.generateKey(ec(), true, ['encrypt']));
  await attempt('wrong usage of ECDH', () => subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['sign']));
  const pair = await subtle.generateKey(ec(), false, ['sign', 'verify']);
  const data = new Uint8Array([1]);
  await attempt('no hash', () => subtle.sign({ name: 'ECDSA' }, pair.privateKey, data));
  await attempt('by name', () => subtle.sign('ECDSA', pair.privateKey, data));
  await attempt('public key', () => subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.publicKey, data));
  await attempt('private key', () => subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, data, data));
  await attempt('short signature', () => subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, pair.publicKey, data, data));
  await attempt('not extractable', () => subtle.exportKey('jwk', pair.privateKey));
  await attempt('public is extractable', () => subtle.exportKey('jwk', pair.publicKey));
  await attempt('bad point', () => subtle.importKey('raw', new Uint8Array(65), ec(), true, ['verify']));
  await attempt('bad spki', () => subtle.importKey('spki', data, ec(), true, ['verify']));
  await attempt('bad pkcs8', () => subtle.importKey('pkcs8', data, ec(), true, ['sign']));
  const ecdh = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
  const larger = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-384' }, true, ['deriveBits']);
  await attempt('another curve', () => subtle.deriveBits({ name: 'ECDH', public: larger.publicKey }, ecdh.privateKey, 128));
  await attempt('no public key', () => subtle.deriveBits({ name: 'ECDH' }, ecdh.privateKey, 128));
}
