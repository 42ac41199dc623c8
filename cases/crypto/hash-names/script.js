import { createHash, createHMAC } from 'k6/crypto';
export default function () {
  for (const name of ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160']) {
    for (const make of [createHash, (n) => createHMAC(n, 'key')]) {
      try { const h = make(name); h.update('x'); console.log(String(name), h.digest('hex').length); } catch (e) { console.log(String(name), 'threw', e.name); }
    }
  }
}
