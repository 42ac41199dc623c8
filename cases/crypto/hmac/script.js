import crypto from 'k6/crypto';
export default function () {
  for (const name of ['md5', 'sha1', 'sha256', 'sha384', 'sha512', 'ripemd160']) console.log(name, crypto.hmac(name, 'key', 'data', 'hex'));
  const h = crypto.createHMAC('sha256', 'key'); h.update('da'); h.update('ta');
  console.log(h.digest('hex'), h.digest('base64'));
  try { crypto.hmac('odd', 'k', 'd', 'hex'); } catch (e) { console.log(String(e.message || e)); }
}
