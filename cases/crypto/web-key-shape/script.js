const show = (name, key) => console.log(name, JSON.stringify(key), [key.type, key.extractable, key.usages.join(), key.algorithm.name].join(' '));
export default async function () {
  const { subtle } = crypto;
  show('hmac', await subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign', 'verify']));
  show('aes', await subtle.generateKey({ name: 'AES-CBC', length: 128 }, false, ['encrypt', 'decrypt']));
  const ecdsa = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  show('ecdsa private', ecdsa.privateKey);
  show('ecdsa public', ecdsa.publicKey);
  const ecdh = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-384' }, false, ['deriveBits', 'deriveKey']);
  show('ecdh private', ecdh.privateKey);
  show('ecdh public', ecdh.publicKey);
  const parameters = { modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-512' };
  for (const [name, usages] of [['RSASSA-PKCS1-v1_5', ['sign', 'verify']], ['RSA-PSS', ['verify']], ['RSA-OAEP', ['encrypt', 'decrypt']]]) {
    const pair = await subtle.generateKey({ name, ...parameters }, true, usages);
    show(name + ' private', pair.privateKey);
    show(name + ' public', pair.publicKey);
  }
}
