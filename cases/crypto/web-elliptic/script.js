const { subtle } = crypto;
const hex = (b) => Array.from(new Uint8Array(b)).map((x) => x.toString(16).padStart(2, '0')).join('');
const bytes = (text) => new Uint8Array(text.match(/../g).map((pair) => parseInt(pair, 16)));
const jwk = {
  kty: 'EC', crv: 'P-256', x: 'YP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Y', y: 'eQP-EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk',
  d: 'ya-p2EW6dRZrXCFXZ7HWk05Qw9s26JsSe4piKxIPZyE',
};
async function attempt(name, body) {
  try {
    const value = await body();
    console.log(name, value instanceof ArrayBuffer ? 'bytes ' + value.byteLength : JSON.stringify(value));
  } catch (e) {
    console.log(name, 'threw', e.name);
  }
}
export default async function () {
  for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
    const pair = await subtle.generateKey({ name: 'ECDSA', namedCurve }, true, ['sign', 'verify']);
    for (const hash of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) {
      const signature = await subtle.sign({ name: 'ECDSA', hash: { name: hash } }, pair.privateKey, new Uint8Array([1, 2]));
      console.log(namedCurve, hash, signature.byteLength, await subtle.verify({ name: 'ECDSA', hash }, pair.publicKey, signature, new Uint8Array([1, 2])), await subtle.verify({ name: 'ECDSA', hash }, pair.publicKey, signature, new Uint8Array([1, 3])));
    }
    for (const [format, half] of [['raw', 'publicKey'], ['spki', 'publicKey'], ['pkcs8', 'privateKey'], ['jwk', 'publicKey'], ['jwk', 'privateKey'], ['raw', 'privateKey'], ['spki', 'privateKey'], ['pkcs8', 'publicKey'], ['other', 'publicKey']]) {
      await attempt(`${namedCurve} ${format} ${half}`, async () => {
        const data = await subtle.exportKey(format, pair[half]);
        const again = await subtle.importKey(format, data, { name: 'ECDSA', namedCurve }, true, [half === 'publicKey' ? 'verify' : 'sign']);
        return [data.byteLength, Object.keys(data).join(), again.type, again.algorithm.namedCurve, again.usages];
      });
    }
    const [a, b] = [await subtle.generateKey({ name: 'ECDH', namedCurve }, true, ['deriveBits']), await subtle.generateKey({ name: 'ECDH', namedCurve }, true, ['deriveBits'])];
    const one = await subtle.deriveBits({ name: 'ECDH', public: a.publicKey }, b.privateKey, 256);
    const other = await subtle.deriveBits({ name: 'ECDH', public: b.publicKey }, a.privateKey, 256);
    console.log(namedCurve, one.byteLength, hex(one) === hex(other));
    await attempt('not a byte', () => subtle.deriveBits({ name: 'ECDH', public: a.publicKey }, b.privateKey, 10));
    await attempt('too long', () => subtle.deriveBits({ name: 'ECDH', public: a.publicKey }, b.privateKey, 4096));
    await attempt('nothing', () => subtle.deriveBits({ name: 'ECDH', public: a.publicKey }, b.privateKey, 0));
  }
  const key = await subtle.importKey('jwk', jwk, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']);
  console.log(hex(await subtle.exportKey('pkcs8', key)));
  console.log(JSON.stringify(Object.entries(await subtle.exportKey('jwk', key)).sort()));
  const { d, ...open } = jwk;
  const known = await subtle.importKey('jwk', open, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']);
  console.log(hex(await subtle.exportKey('raw', known)), hex(await subtle.exportKey('spki', known)));
  const signature = bytes('efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8');
  console.log(await subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, known, signature, new Uint8Array([...'sample'].map((c) => c.charCodeAt()))));
}
