import crypto from 'k6/crypto';
export default function () {
  for (const name of ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160']) console.log(name, crypto[name]('plimsoll', 'hex'));
  for (const form of ['hex', 'base64', 'base64url', 'base64rawurl']) console.log(form, crypto.sha256('a', form));
  const bytes = crypto.md5('a', 'binary');
  console.log(bytes instanceof ArrayBuffer, bytes.byteLength, crypto.sha1(new Uint8Array([1, 2]).buffer, 'hex'));
  try { crypto.md5('a', 'odd'); } catch (e) { console.log(String(e.message || e)); }
}
