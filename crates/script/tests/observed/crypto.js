import crypto, { createHash, sha256, hmac } from 'k6/crypto';

function show(value) {
  if (value instanceof ArrayBuffer) return 'bytes ' + new Uint8Array(value);
  return typeof value + ' ' + value;
}
function observe(name, body) {
  try {
    console.log(name + ' => ' + show(body()));
  } catch (e) {
    console.log(name + ' threw ' + e.message);
  }
}

export default function () {
  const algorithms = ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160'];
  for (const name of algorithms) {
    observe(name, () => crypto[name]('hello world', 'hex'));
    observe(`${name} of nothing`, () => crypto[name]('', 'hex'));
    observe(`createHash ${name}`, () => {
      const hasher = crypto.createHash(name);
      hasher.update('hello ');
      hasher.update('world');
      return hasher.digest('hex');
    });
    observe(`hmac ${name}`, () => crypto.hmac(name, 'secret', 'hello world', 'hex'));
    observe(`hmac, long key, ${name}`, () => crypto.hmac(name, 'k'.repeat(200), 'hello world', 'hex'));
    observe(`createHMAC ${name}`, () => {
      const hasher = crypto.createHMAC(name, 'secret');
      hasher.update('hello ');
      hasher.update('world');
      return hasher.digest('hex');
    });
  }
  for (const encoding of ['hex', 'base64', 'base64url', 'base64rawurl', 'binary', '', 'bogus', undefined, null, 5, 'HEX']) {
    observe(`sha1 as ${encoding}`, () => crypto.sha1('x9', encoding));
    observe(`hmac as ${encoding}`, () => crypto.hmac('sha1', 'k', 'x9', encoding));
    observe(`digest as ${encoding}`, () => {
      const hasher = crypto.createHash('sha1');
      hasher.update('x9');
      return hasher.digest(encoding);
    });
  }
  observe('unknown hmac', () => crypto.hmac('bogus', 'k', 'd', 'hex'));
  observe('unknown createHMAC', () => crypto.createHMAC('bogus', 'x'));
  observe('digest, update, digest', () => {
    const hasher = createHash('md5');
    hasher.update('a');
    const first = hasher.digest('hex');
    const second = hasher.digest('hex');
    hasher.update('b');
    return [first, second, hasher.digest('hex')];
  });
  observe('update', () => createHash('md5').update('a'));
  observe('String(hasher)', () => String(createHash('md5')));
  observe('buffer', () => crypto.md5(new Uint8Array([1, 2, 3]).buffer, 'hex'));
  observe('bytes', () => crypto.md5(new Uint8Array([1, 2, 3]), 'hex'));
  observe('part of bytes', () => crypto.md5(new Uint8Array([1, 2, 3, 4]).subarray(1, 3), 'hex'));
  observe('key of bytes', () => hmac('md5', new Uint8Array([1, 2]).buffer, 'd', 'hex'));
  observe('hexEncode buffer', () => crypto.hexEncode(new Uint8Array([1, 255]).buffer));
  observe('hexEncode text', () => crypto.hexEncode('az'));
  observe('randomBytes', () => crypto.randomBytes(4).byteLength);
  observe('randomBytes 0', () => crypto.randomBytes(0).byteLength);
  observe('randomBytes -1', () => crypto.randomBytes(-1));
  observe('randomBytes 2.7', () => crypto.randomBytes(2.7).byteLength);
  observe('randomBytes none', () => crypto.randomBytes());
  observe('randomBytes is', () => Object.prototype.toString.call(crypto.randomBytes(2)));
  observe('lone surrogate', () => crypto.md5('\ud800', 'hex'));
  observe('beyond ASCII', () => crypto.md5('é😀', 'hex'));
  observe('by name', () => [typeof createHash, typeof sha256, typeof hmac]);
  observe('names', () => Object.keys(crypto).sort().join());
}
