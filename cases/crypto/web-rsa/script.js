const { subtle } = crypto;
const text = new Uint8Array([1, 2, 3]);
async function attempt(name, body) {
  try {
    const value = await body();
    console.log(name, value instanceof ArrayBuffer ? 'bytes ' + value.byteLength : JSON.stringify(value));
  } catch (e) {
    console.log(name, 'threw', e.name);
  }
}
export default async function () {
  const parameters = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
  for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) {
    for (const [algorithm, usages] of [['RSASSA-PKCS1-v1_5', ['sign', 'verify']], [{ name: 'RSA-PSS', saltLength: 20 }, ['sign', 'verify']]]) {
      const name = algorithm.name || algorithm;
      const { privateKey, publicKey } = await subtle.generateKey({ name, hash, ...parameters }, true, usages);
      const signature = await subtle.sign(algorithm, privateKey, text);
      console.log(name, hash, signature.byteLength, await subtle.verify(algorithm, publicKey, signature, text), await subtle.verify(algorithm, publicKey, signature, new Uint8Array(3)));
    }
  }
  const name = 'RSA-OAEP';
  const pair = await subtle.generateKey({ name, hash: 'SHA-256', ...parameters }, true, ['encrypt', 'decrypt']);
  const sealed = await subtle.encrypt({ name }, pair.publicKey, text);
  console.log(sealed.byteLength, new Uint8Array(await subtle.decrypt({ name }, pair.privateKey, sealed)).join());
  const label = new Uint8Array([65, 66]);
  const labelled = await subtle.encrypt({ name, label }, pair.publicKey, text);
  console.log(new Uint8Array(await subtle.decrypt({ name, label }, pair.privateKey, labelled)).join());
  await attempt('without label', () => subtle.decrypt({ name }, pair.privateKey, labelled));
  await attempt('too long', () => subtle.encrypt({ name }, pair.publicKey, new Uint8Array(300)));
  for (const [format, half] of [['spki', 'publicKey'], ['pkcs8', 'privateKey'], ['jwk', 'publicKey'], ['jwk', 'privateKey'], ['raw', 'publicKey'], ['pkcs8', 'publicKey'], ['spki', 'privateKey']]) {
    await attempt(`${format} ${half}`, async () => {
      const data = await subtle.exportKey(format, pair[half]);
      const again = await subtle.importKey(format, data, { name, hash: 'SHA-256' }, true, [half === 'publicKey' ? 'encrypt' : 'decrypt']);
      return [Object.keys(data).sort().join(), again.type, again.algorithm.modulusLength, again.usages];
    });
  }
  await attempt('no hash', () => subtle.generateKey({ name, ...parameters }, true, ['encrypt']));
  await attempt('small', () => subtle.generateKey({ name, hash: 'SHA-1', ...parameters, modulusLength: 128 }, true, ['encrypt']));
  await attempt('wrong usage', () => subtle.generateKey({ name, hash: 'SHA-1', ...parameters }, true, ['sign']));
  const pss = await subtle.generateKey({ name: 'RSA-PSS', hash: 'SHA-256', ...parameters }, true, ['sign']);
  await attempt('no salt', () => subtle.sign({ name: 'RSA-PSS' }, pss.privateKey, text));
  await attempt('bad spki', () => subtle.importKey('spki', text, { name, hash: 'SHA-256' }, true, ['encrypt']));
}
