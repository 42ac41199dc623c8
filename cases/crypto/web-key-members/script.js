const shown = (value) => (typeof value === 'object' ? Object.keys(value).join() : String(value));
const attempt = (label, action) => {
  try { console.log(label, shown(action())); } catch (error) { console.log(label, error.name, error.message); }
};
export default async function () {
  const { subtle } = crypto;
  const pair = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const rsa = await subtle.generateKey({ name: 'RSA-OAEP', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-1' }, true, ['encrypt', 'decrypt']);
  const key = await subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt']);
  const imported = await subtle.importKey('raw', new Uint8Array(16), 'PBKDF2', false, ['deriveBits']);
  console.log(shown(pair), Object.getOwnPropertyNames(rsa).join(), Object.entries(pair).length, JSON.stringify(Object.keys({ ...rsa })));
  console.log(shown(key), shown(pair.publicKey), shown(rsa.privateKey), shown(imported));
  for (const [name, owner] of [['pair', pair], ['key', key], ['public', pair.publicKey]]) {
    for (const method of ['isKeyPair', 'resolveCryptoKey', 'resolveCryptoKeyPair', 'validate']) {
      if (owner[method]) attempt(`${name}.${method}`, () => owner[method]());
      else console.log(name, 'lacks', method);
    }
  }
  for (const usage of ['encrypt', 'verify', '', undefined]) console.log(usage, key.containsUsage(usage), pair.publicKey.containsUsage(usage), pair.containsUsage);
  console.log(pair.resolveCryptoKeyPair() === pair, key.resolveCryptoKey() === key);
  const listed = []; for (const name in pair) listed.push(`${name} ${typeof pair[name]}`);
  console.log(listed.join());
}
