import crypto from 'k6/crypto';
export default function () {
  for (const name of ['md4', 'md5', 'sha1', 'sha384', 'sha512_224', 'sha512_256', 'ripemd160']) {
    for (const encoding of ['hex', 'base64rawurl', 'binary']) { const out = crypto.hmac(name, 'a key', 'some data', encoding); console.log(name, encoding, typeof out === 'string' ? out : new Uint8Array(out).length); }
  }
  const h = crypto.createHMAC('sha1', 'k');
  h.update('a');
  console.log(h.digest('hex'), h.digest('hex') === crypto.hmac('sha1', 'k', 'a', 'hex'));
}
