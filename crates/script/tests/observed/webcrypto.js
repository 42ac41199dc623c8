const subtle = crypto.subtle;
const bytes = (...values) => new Uint8Array(values);
const count = (length) => Uint8Array.from({ length }, (_, i) => i);

function show(value) {
  if (value instanceof ArrayBuffer) return 'bytes ' + new Uint8Array(value);
  if (value instanceof CryptoKey) {
    const { name, length, hash } = value.algorithm;
    return 'key ' + JSON.stringify([value.type, value.extractable, name, length, hash && hash.name, value.usages]);
  }
  if (value && value.kty) return JSON.stringify([value.kty, value.k, value.alg, value.ext, value.key_ops]);
  return typeof value + ' ' + JSON.stringify(value);
}
async function observe(name, body) {
  try {
    console.log(name + ' => ' + show(await body()));
  } catch (e) {
    console.log(name + ' threw ' + e.name);
  }
}

export default async function () {
  await observe('randomUUID', () =>
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()));
  await observe('getRandomValues', () => {
    const array = new Uint8Array(64);
    return [crypto.getRandomValues(array) === array, array.some((x) => x > 0)];
  });
  for (const Kind of [Int8Array, Uint8ClampedArray, Uint16Array, Int32Array, Uint32Array, BigUint64Array, Float32Array, Float64Array]) {
    await observe('getRandomValues ' + Kind.name, () => crypto.getRandomValues(new Kind(4)).length);
  }
  await observe('getRandomValues, most', () => crypto.getRandomValues(new Uint8Array(65536)).length);
  await observe('getRandomValues, too many', () => crypto.getRandomValues(new Uint8Array(65537)).length);

  for (const name of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', 'sha-256', { name: 'SHA-256' }, 'MD5', '', {}]) {
    await observe('digest ' + JSON.stringify(name), () => subtle.digest(name, bytes(1, 2, 3)));
  }
  await observe('digest of buffer', () => subtle.digest('SHA-1', bytes(1, 2, 3).buffer));
  await observe('digest of part', () => subtle.digest('SHA-1', bytes(1, 2, 3).subarray(1)));
  await observe('digest of units', () => subtle.digest('SHA-1', new Uint16Array([1, 2])));
  await observe('digest of text', () => subtle.digest('SHA-1', 'abc'));
  await observe('digest is', () => subtle.digest('SHA-1', bytes(1)) instanceof Promise);

  const sha256 = { name: 'HMAC', hash: 'SHA-256' };
  const secret = bytes(1, 2, 3, 4);
  await observe('HMAC', () => subtle.importKey('raw', secret, sha256, false, ['verify', 'sign']));
  await observe('HMAC, hash as object', () => subtle.importKey('raw', secret, { name: 'hmac', hash: { name: 'sha-512' } }, true, ['sign']));
  await observe('HMAC without hash', () => subtle.importKey('raw', secret, 'HMAC', true, ['sign']));
  await observe('HMAC without usage', () => subtle.importKey('raw', secret, sha256, true, []));
  await observe('HMAC with a wrong usage', () => subtle.importKey('raw', secret, sha256, true, ['encrypt']));
  await observe('HMAC with no usage', () => subtle.importKey('raw', secret, sha256, true, ['bogus']));
  await observe('HMAC of nothing', () => subtle.importKey('raw', bytes(), sha256, true, ['sign']));
  await observe('HMAC from JWK', () => subtle.importKey('jwk', { kty: 'oct', k: 'AQIDBA', alg: 'HS256' }, sha256, true, ['sign']));
  await observe('HMAC from another JWK', () => subtle.importKey('jwk', { kty: 'oct', k: 'AQIDBA', alg: 'HS512' }, sha256, true, ['sign']));
  await observe('HMAC from no JWK', () => subtle.importKey('jwk', { kty: 'RSA' }, sha256, true, ['sign']));
  const hmac = await subtle.importKey('raw', secret, sha256, true, ['sign', 'verify']);
  await observe('sign', () => subtle.sign('HMAC', hmac, bytes(9, 9)));
  await observe('sign by object', () => subtle.sign({ name: 'HMAC' }, hmac, bytes(9, 9).buffer));
  await observe('verify', async () => subtle.verify('HMAC', hmac, await subtle.sign('HMAC', hmac, bytes(9)), bytes(9)));
  await observe('verify wrong', () => subtle.verify('HMAC', hmac, bytes(1), bytes(9, 9)));
  await observe('sign without usage', async () =>
    subtle.sign('HMAC', await subtle.importKey('raw', secret, sha256, true, ['verify']), bytes(1)));
  await observe('export raw', () => subtle.exportKey('raw', hmac));
  await observe('export JWK', () => subtle.exportKey('jwk', hmac));
  for (const parameters of [{ hash: 'SHA-512' }, { hash: 'SHA-1' }, { hash: 'SHA-1', length: 128 }, { hash: 'SHA-1', length: 0 }]) {
    await observe('generate HMAC ' + JSON.stringify(parameters), async () => {
      const key = await subtle.generateKey({ name: 'HMAC', ...parameters }, true, ['sign']);
      return [key.algorithm.length, (await subtle.exportKey('raw', key)).byteLength];
    });
  }

  for (const name of ['AES-CBC', 'AES-CTR', 'AES-GCM', 'AES-KW']) {
    for (const length of [128, 192, 256, 100, undefined]) {
      await observe(`generate ${name} ${length}`, async () => {
        const usages = name === 'AES-KW' ? ['wrapKey'] : ['decrypt', 'encrypt'];
        const key = await subtle.generateKey({ name, length }, true, usages);
        return [show(key), (await subtle.exportKey('raw', key)).byteLength];
      });
    }
  }
  const iv = count(16);
  const text = bytes(1, 2, 3);
  const cbc = await subtle.importKey('raw', count(16), 'AES-CBC', true, ['encrypt', 'decrypt']);
  await observe('CBC', () => subtle.encrypt({ name: 'AES-CBC', iv }, cbc, text));
  await observe('CBC back', async () => subtle.decrypt({ name: 'AES-CBC', iv }, cbc, await subtle.encrypt({ name: 'AES-CBC', iv }, cbc, text)));
  await observe('CBC wrong', () => subtle.decrypt({ name: 'AES-CBC', iv }, cbc, new Uint8Array(16)));
  await observe('CBC short', () => subtle.decrypt({ name: 'AES-CBC', iv }, cbc, text));
  await observe('CBC, iv short', () => subtle.encrypt({ name: 'AES-CBC', iv: bytes(1) }, cbc, text));
  await observe('CBC, no iv', () => subtle.encrypt({ name: 'AES-CBC' }, cbc, text));
  const ctr = await subtle.importKey('raw', count(24), { name: 'AES-CTR' }, true, ['encrypt', 'decrypt']);
  await observe('CTR', () => subtle.encrypt({ name: 'AES-CTR', counter: iv, length: 64 }, ctr, new Uint8Array(40)));
  await observe('CTR 128', () => subtle.decrypt({ name: 'AES-CTR', counter: iv, length: 128 }, ctr, text));
  await observe('CTR 0', () => subtle.encrypt({ name: 'AES-CTR', counter: iv, length: 0 }, ctr, text));
  await observe('CTR wraps', () => subtle.encrypt({ name: 'AES-CTR', counter: new Uint8Array(16).fill(255), length: 4 }, ctr, new Uint8Array(40)));
  await observe('CTR short', () => subtle.encrypt({ name: 'AES-CTR', counter: bytes(1), length: 64 }, ctr, text));
  const gcm = await subtle.importKey('raw', count(32), { name: 'AES-GCM' }, true, ['encrypt', 'decrypt']);
  for (const parameters of [{}, { additionalData: bytes(5) }, { tagLength: 96 }, { tagLength: 32 }, { tagLength: 33 }, { iv: count(16) }]) {
    const full = { name: 'AES-GCM', iv: count(12), ...parameters };
    const label = JSON.stringify([parameters.tagLength, parameters.iv && parameters.iv.length]);
    await observe('GCM ' + label, () => subtle.encrypt(full, gcm, text));
    await observe('GCM back ' + label, async () => subtle.decrypt(full, gcm, await subtle.encrypt(full, gcm, text)));
  }
  await observe('GCM wrong', () => subtle.decrypt({ name: 'AES-GCM', iv: count(12) }, gcm, new Uint8Array(20)));
  await observe('GCM short', () => subtle.decrypt({ name: 'AES-GCM', iv: count(12) }, gcm, text));
  await observe('AES as JWK', () => subtle.exportKey('jwk', gcm));
  await observe('AES from JWK', () => subtle.importKey('jwk', { kty: 'oct', k: 'AAECAwQFBgcICQoLDA0ODw', alg: 'A128CBC' }, 'AES-CBC', true, ['encrypt']));
  await observe('AES key short', () => subtle.importKey('raw', bytes(1), 'AES-CBC', true, ['encrypt']));
  await observe('another algorithm', () => subtle.encrypt({ name: 'AES-CTR', counter: iv, length: 64 }, cbc, text));
  await observe('unknown algorithm', () => subtle.encrypt({ name: 'AES-XYZ' }, cbc, text));

  const kw = await subtle.importKey('raw', count(16), 'AES-KW', true, ['wrapKey', 'unwrapKey']);
  await observe('wrap', () => subtle.wrapKey('raw', gcm, kw, 'AES-KW'));
  await observe('unwrap', async () => {
    const wrapped = await subtle.wrapKey('raw', gcm, kw, 'AES-KW');
    const key = await subtle.unwrapKey('raw', wrapped, kw, 'AES-KW', 'AES-GCM', true, ['encrypt']);
    return [show(key), show(await subtle.exportKey('raw', key))];
  });
  await observe('unwrap wrong', () => subtle.unwrapKey('raw', new Uint8Array(24), kw, 'AES-KW', 'AES-GCM', true, ['encrypt']));

  const password = await subtle.importKey('raw', bytes(112, 119), 'PBKDF2', false, ['deriveBits', 'deriveKey']);
  const pbkdf2 = { name: 'PBKDF2', salt: bytes(1, 2), iterations: 10, hash: 'SHA-256' };
  await observe('PBKDF2', () => subtle.deriveBits(pbkdf2, password, 256));
  await observe('PBKDF2 to AES', async () =>
    subtle.exportKey('raw', await subtle.deriveKey(pbkdf2, password, { name: 'AES-GCM', length: 256 }, true, ['encrypt'])));
  await observe('PBKDF2 to HMAC', async () =>
    subtle.exportKey('raw', await subtle.deriveKey(pbkdf2, password, { name: 'HMAC', hash: 'SHA-1' }, true, ['sign'])));
  await observe('PBKDF2, odd length', () => subtle.deriveBits(pbkdf2, password, 12));
  await observe('PBKDF2, no iterations', () => subtle.deriveBits({ ...pbkdf2, iterations: 0 }, password, 64));
  await observe('PBKDF2, extractable', () => subtle.importKey('raw', bytes(1), 'PBKDF2', true, ['deriveBits']));
  await observe('PBKDF2, wrong usage', () => subtle.importKey('raw', bytes(1), 'PBKDF2', false, ['sign']));
}
