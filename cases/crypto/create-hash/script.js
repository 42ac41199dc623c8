import { createHash, hexEncode, randomBytes } from 'k6/crypto';
export default function () {
  const h = createHash('sha1'); h.update('a'); h.update(new Uint8Array([98]).buffer); console.log(h.digest('hex'), h.digest('base64'));
  console.log(hexEncode('AZ'), hexEncode(new Uint8Array([0, 255]).buffer), randomBytes(16).byteLength, randomBytes(8) instanceof ArrayBuffer);
  try { randomBytes(-1); } catch (e) { console.log(String(e.message || e)); }
}
